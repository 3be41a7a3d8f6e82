// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/row_sink.h"
#include "core/json.h"

namespace warpmeter {

struct CuptiApi;

// A CUDA device of the process, by ordinal.
struct TargetDevice {
  std::int64_t row_id = 0;       // devices.id in the store
  std::string name, uuid, chip;  // uuid "GPU-..."; chip as CUPTI names it, empty if it does not
  int major = 0, minor = 0;      // compute capability
  int multiprocessors = 0;
};

// The process that is profiled, as its collectors see it. Does not change once they exist. Times of
// rows are nanoseconds of CLOCK_MONOTONIC.
struct Target {
  const CuptiApi* cupti = nullptr;  // null: there is none here
  std::int64_t process_id = 0;      // processes.id in the store
  std::vector<TargetDevice> devices;
};

// One source of rows. Throws nothing but what is said here; its constructor may throw InputError if
// it cannot work here (no permission, no such chip, ...): one line with the remedy, which the
// profile keeps as what was refused.
class Collector {
 public:
  virtual ~Collector() = default;

  virtual std::string_view name() const = 0;  // losses.collector: "timeline", "pm", ...

  // Begins, and ends, to collect. May be repeated. One control thread. arm() throws InputError.
  virtual void arm() = 0;
  virtual void disarm() noexcept = 0;

  // Puts what has come since the last call into `sink`, losses included. Writer thread, also while
  // armed; after disarm() it leaves nothing behind. Returns how many rows.
  virtual std::size_t drain(RowSink& sink) = 0;

  // Options, and what was not possible: stands in the provenance of the profile.
  virtual Json describe() const = 0;
};

}  // namespace warpmeter
