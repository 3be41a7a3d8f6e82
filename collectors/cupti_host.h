// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

// The two counter collectors of CUPTI: ranges (replayed as often as there are passes), and samples
// of the performance monitors (one pass while the program runs).
enum class Profiler { range, pm };

std::string_view to_string(Profiler profiler);

// The base metric of a name: "dram__bytes_read" of "dram__bytes_read.sum". Groups stand before the
// unit and have dots too: "PCI.TriageCompute.pcie__read_bytes.sum".
std::string base_metric(std::string_view name);

// What CUPTI says to a set of metrics. `error` is a CUptiResult, 0 if it can be scheduled; else
// `call` is what failed, and the rest is empty.
struct CounterConfig {
  int error = 0;
  const char* call = "";
  std::size_t passes = 0;
  std::vector<std::uint8_t> image;  // for the collector of a device of this chip
};

// One chip with one profiler. Copies share their data; the functions may be used by several
// threads.
class ChipHost {
 public:
  const std::string& chip() const;
  Profiler profiler() const;

  // 0, or the CUptiResult with which CUPTI refuses to plan for this chip and profiler.
  int error() const;

  // How many hardware counters CUPTI says fit a pass; 0 if it says none.
  std::size_t max_metrics_per_pass() const;

  // Whether CUPTI lists the base metric of `name` (with or without roll-up).
  bool lists(std::string_view name) const;

  // CUPTI's unit of the value of `name` as it states it ("ns"); empty if it states none.
  std::string unit(const std::string& name) const;

  CounterConfig configure(const std::vector<std::string>& names) const;

 private:
  friend class CuptiHost;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// The host side of CUPTI, opened at run time. Needs no driver and no device.
class CuptiHost {
 public:
  // Throws InputError (one line with the remedy) if there is no libcupti.so.13, if it lacks the
  // host API, or if warpmeter was built without its headers.
  static const CuptiHost& open();

  const std::string& path() const;
  std::uint32_t version() const;  // CUPTI_API_VERSION of the library: 130001 is CUDA 13.0 Update 1
  std::vector<std::string> chips() const;

  // Throws InputError with the names of all chips if CUPTI does not know `chip`.
  ChipHost chip(const std::string& chip, Profiler profiler) const;

  struct Functions;

 private:
  CuptiHost();
  std::shared_ptr<const Functions> functions_;
  std::string path_;
};

}  // namespace warpmeter
