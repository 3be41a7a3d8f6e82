// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Metrics that the emulated GPU can answer, and the images in which their counts travel.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/driver/seam.h"

namespace emulator {

// What is counted over a time. Doubles: a sample gets its share of a kernel's counts.
enum class Raw : std::uint8_t {
  time_ns,
  busy_ns,  // in which a kernel ran
  blocks,
  warp_instructions,
  thread_instructions,
  fma_instructions,     // of warps with all lanes active
  tensor_instructions,  // of warps, wgmma too
  wgmma_instructions,
  l1_sectors,
  l1_hits,
  l2_sectors,
  l2_hits,
  l2_write_sectors,
  l2_atomic_sectors,
  dram_read_bytes,
  dram_write_bytes,
  shared_wavefronts,
  shared_conflicts,
  count
};
struct Counts {
  std::array<double, static_cast<std::size_t>(Raw::count)> values{};
  double& operator[](Raw raw) { return values[static_cast<std::size_t>(raw)]; }
  double operator[](Raw raw) const { return values[static_cast<std::size_t>(raw)]; }
  void add(const Counts& other, double share);
};
// All but the time.
Counts counts_of(const Work& work);

struct Metric {
  const char* base;
  CUpti_MetricType type;
  std::vector<const char*> endings;  // "sum", "avg.per_second"
  const char* unit;
  const char* text;
  double (*value)(const Counts& counts, const ChipFacts& chip);  // of the first ending
};
const std::vector<Metric>& metrics();
// By a name without an ending, or with one that it has; null otherwise.
const Metric* find_metric(std::string_view name);
// The value of "base.ending"; false if there is no such metric.
bool evaluate(std::string_view name, const Counts& counts, double* value);

// The first bytes of an image tell what it is.
inline constexpr std::uint64_t image_magic = 0x31474d49554d45ull;  // "EMUIMG1"

// Config image: what to count.
std::vector<std::uint8_t> make_config(const std::vector<std::string>& names);
// The number of metrics of a config image; -1: it is none.
int metrics_in_config(const std::uint8_t* image, std::size_t size);
// By the planted limit of metrics per pass; 1 without.
std::size_t passes_of(int metric_count);

// Counter data image: rows of counts, of ranges or samples.
struct Row {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  Counts counts;
  char name[256] = {};  // levels of a range, separated by newlines
};
std::string range_name(const Row& row, std::string_view delimiter);

class RowImage {
 public:
  static std::size_t bytes_for(std::size_t rows) { return sizeof(Header) + rows * sizeof(Row); }
  static bool initialize(std::uint8_t* data, std::size_t size);
  // Null rows if `data` is no image.
  RowImage(const std::uint8_t* data, std::size_t size);
  bool valid() const { return header_ != nullptr; }
  std::size_t capacity() const { return header_->capacity; }
  std::size_t count() const { return header_->count; }
  const Row* row(std::size_t index) const { return index < count() ? rows_ + index : nullptr; }
  bool append(const Row& row);  // false: full

 private:
  struct Header {
    std::uint64_t magic;
    std::uint64_t capacity;
    std::uint64_t count;
  };
  Header* header_ = nullptr;
  Row* rows_ = nullptr;
};

}  // namespace emulator
