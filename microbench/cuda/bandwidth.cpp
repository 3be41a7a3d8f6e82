// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cuda/check.h"
#include "cuda/session.h"
#include "kernels/micro/fill.h"
#include "kernels/micro/pattern.h"
#include "kernels/micro/stream.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

enum class Operation { read, write, copy };

constexpr std::uint32_t seed = 7;

int arrays(Operation operation) { return operation == Operation::copy ? 2 : 1; }

const void* kernel_of(Operation operation, LoadPath path) {
  switch (operation) {
    case Operation::read:
      return read_kernel(path);
    case Operation::write:
      return write_kernel();
    default:
      return copy_kernel();
  }
}

// The sum of the first `words` words of the pattern, modulo 2^32.
std::uint32_t pattern_sum(std::uint64_t words) {
  std::uint32_t sum = 0;
  for (std::uint64_t i = 0; i < words; ++i) {
    sum += pattern_word(static_cast<std::uint32_t>(i), seed);
  }
  return sum;
}

class StreamCase : public Case {
 public:
  StreamCase(const Device& device, Operation operation, LoadPath path, double footprint);
  Sample sample() override;
  Json conditions() const override;

 private:
  int choose_blocks() const;
  void launch(cudaStream_t stream, std::uint32_t passes, Stamp* stamps) const;
  void verify();
  void verify_words(const DeviceBuffer& buffer);

  Session session_;
  Operation operation_;
  LoadPath path_;
  std::uint64_t tiles_;  // of one array
  int blocks_ = 0;
  std::uint32_t passes_ = 1;
  DeviceBuffer data_;
  DeviceBuffer copy_;
  DeviceBuffer sums_;
};

StreamCase::StreamCase(const Device& device, Operation operation, LoadPath path, double footprint)
    : session_(device),
      operation_(operation),
      path_(path),
      tiles_(static_cast<std::uint64_t>(footprint) / (stream_tile * arrays(operation))) {
  const DeviceGuard guard(device.ordinal);
  if (path == LoadPath::ca) {
    GPU_CHECK(cudaFuncSetAttribute(kernel_of(operation, path),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
  }
  blocks_ = choose_blocks();
  data_ = DeviceBuffer(tiles_ * stream_tile);
  if (operation == Operation::copy) copy_ = DeviceBuffer(tiles_ * stream_tile);
  sums_ = DeviceBuffer(std::size_t{4} * stream_threads * blocks_);
  launch_fill({data_.as<std::uint32_t>(), data_.bytes() / 4, seed}, session_.stream());
  verify();
  passes_ = scale_count(session_.pace().sample_s, 1, [&](std::uint32_t passes) {
    return session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, passes, stamps); })
        .event_s;
  });
}

// As many blocks as are resident at once; fewer if the tiles then spread evenly over the SMs.
int StreamCase::choose_blocks() const {
  int resident = 0;
  GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_of(operation_, path_),
                                                          stream_threads, 0));
  const std::uint64_t rounds = tiles_ / session_.sm_count();
  int per_sm = std::max(1, resident);
  while (per_sm > 1 && rounds % per_sm != 0) --per_sm;
  return static_cast<int>(
      std::min<std::uint64_t>(tiles_, std::uint64_t(per_sm) * session_.sm_count()));
}

void StreamCase::launch(cudaStream_t stream, std::uint32_t passes, Stamp* stamps) const {
  switch (operation_) {
    case Operation::read:
      launch_read({data_.as<uint4>(), tiles_, passes, sums_.as<std::uint32_t>(), stamps}, path_,
                  blocks_, stream);
      break;
    case Operation::write:
      launch_write({data_.as<uint4>(), tiles_, passes, seed, stamps}, blocks_, stream);
      break;
    case Operation::copy:
      launch_copy({data_.as<uint4>(), copy_.as<uint4>(), tiles_ * stream_tile / 16, passes, stamps},
                  blocks_, stream);
      break;
  }
}

void StreamCase::verify() {
  // What a broken kernel would leave in place must not be the right answer.
  if (operation_ == Operation::write) {
    GPU_CHECK(cudaMemsetAsync(data_.as<void>(), 0, data_.bytes(), session_.stream()));
  }
  const std::uint32_t passes = 2;
  session_.run(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, passes, stamps); });
  if (operation_ != Operation::read) {
    verify_words(operation_ == Operation::copy ? copy_ : data_);
    return;
  }
  const auto sums =
      session_.download<std::uint32_t>(sums_, static_cast<std::size_t>(stream_threads) * blocks_);
  require_correct(std::accumulate(sums.begin(), sums.end(), 0u) ==
                      passes * pattern_sum(tiles_ * stream_tile / 4),
                  "the sum of the words read differs from the host's");
}

void StreamCase::verify_words(const DeviceBuffer& buffer) {
  const std::size_t total = buffer.bytes() / 4;
  std::vector<std::uint32_t> words(std::min<std::size_t>(total, std::size_t{4} << 20));
  for (std::size_t first = 0; first < total; first += words.size()) {
    const std::size_t count = std::min(words.size(), total - first);
    GPU_CHECK(cudaMemcpy(words.data(), buffer.as<std::uint32_t>() + first, 4 * count,
                         cudaMemcpyDeviceToHost));
    bool right = true;
    for (std::size_t i = 0; i < count; ++i) {
      right &= words[i] == pattern_word(static_cast<std::uint32_t>(first + i), seed);
    }
    require_correct(right, fmt::format("wrong data within 16 MiB of byte {}", 4 * first));
  }
}

Sample StreamCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  const auto timed =
      session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, passes_, stamps); });
  if (timed.clock) session_.record(*timed.clock);
  const double bytes =
      static_cast<double>(stream_tile) * static_cast<double>(tiles_) * arrays(operation_) * passes_;
  return {bytes / timed.event_s, timed.event_s};
}

Json StreamCase::conditions() const {
  Json result = session_.conditions();
  result["bytes_formula"] = "passes * arrays * tiles * 32768";
  result["passes"] = passes_;
  result["arrays"] = arrays(operation_);
  result["tiles"] = tiles_;
  result["blocks"] = blocks_;
  result["threads_per_block"] = stream_threads;
  result["in_flight_bytes"] = static_cast<double>(blocks_) * stream_tile;
  result["residency"] = "steady state of repeated passes in the same order";
  result["data"] = "random";
  return result;
}

double quantum(const Device& device) {  // one tile for every SM
  return static_cast<double>(stream_tile) * fact_number(device.facts, "sm.count").value_or(1);
}

// Blocks that are resident on an SM at most. Footprints of many tiles are multiples of as many
// tiles per SM: with a remainder, the blocks that have one tile more than others end alone in every
// pass.
constexpr double most_blocks = 2048.0 / stream_threads;

double even(double footprint, double step) {
  const double tiles = std::round(footprint / step);
  if (tiles < 4 * most_blocks) return tiles * step;
  return std::round(tiles / most_blocks) * most_blocks * step;
}

std::vector<Parameters> read_points(const Device& device, Effort effort) {
  const double l2 = fact_number(device.facts, "cache.l2.size").value_or(0);
  const double step = quantum(device);
  std::vector<Parameters> result;
  const auto add = [&](const char* path, double footprint) {
    result.push_back({{"path", path}, {"footprint", footprint}});
  };
  if (effort == Effort::quick) {
    add("cg", step);
    return result;
  }
  const int per_octave = effort == Effort::thorough ? 6 : 3;
  const double dram = dram_footprint(device, most_blocks * step);
  const double most = std::max(2 * step, 4 * l2);
  std::set<double> footprints;
  for (const double footprint : log_spaced(step, most, per_octave, step)) {
    if (even(footprint, step) < dram) footprints.insert(even(footprint, step));
  }
  for (const double footprint : footprints) add("cg", footprint);
  // What fits into all L1 caches together: each SM reads its own part again and again.
  for (const double per_sm : {1.0, 2.0, 3.0, 4.0}) add("ca", per_sm * step);
  add("cg", dram);
  add("ca", dram);
  return result;
}

std::vector<Parameters> memory_points(const Device& device, Effort effort, int parts) {
  const double step = parts * quantum(device);
  const double footprint =
      effort == Effort::quick ? step : dram_footprint(device, most_blocks * step);
  return {{{"footprint", footprint}}};
}

// Only what the memory itself must serve is bounded by its pins.
std::optional<double> limit(const Device& device, const Parameters& parameters) {
  if (!beyond_l2(device, number(parameters, "footprint").value_or(0))) return std::nullopt;
  return dram_peak(device);
}

Benchmark row_of(Operation operation, const std::string& quantity) {
  Benchmark row;
  row.id = row.quantity = quantity;
  row.unit = Unit::byte_per_second;
  row.device = DeviceKind::cuda;
  row.unsupported = [](const Device& device, const Parameters& parameters) {
    return too_large(device, number(parameters, "footprint").value_or(0));
  };
  row.make = [operation](const Device& device,
                         const Parameters& parameters) -> std::unique_ptr<Case> {
    const LoadPath path = word(parameters, "path") == "ca" ? LoadPath::ca : LoadPath::cg;
    return std::make_unique<StreamCase>(device, operation, path,
                                        number(parameters, "footprint").value_or(0));
  };
  row.limit = limit;
  return row;
}

}  // namespace

Benchmark bandwidth_read_row() {
  Benchmark row = row_of(Operation::read, "bandwidth.read");
  row.method =
      "All SMs read the footprint with four independent 16 B loads per thread (ca: ld.global.ca, "
      "cg: "
      "ld.global.cg), in passes of the same order; bytes read over event time.";
  row.points = read_points;
  return row;
}

Benchmark bandwidth_write_row() {
  Benchmark row = row_of(Operation::write, "bandwidth.write");
  row.method =
      "All SMs write random words over the footprint with 16 B stores, in passes of the same "
      "order; "
      "bytes written over event time. What L2 still holds at the end equals what it held before.";
  row.points = [](const Device& device, Effort effort) { return memory_points(device, effort, 1); };
  return row;
}

Benchmark bandwidth_copy_row() {
  Benchmark row = row_of(Operation::copy, "bandwidth.copy");
  row.method =
      "All SMs copy one half of the footprint to the other with 16 B loads and stores; bytes read "
      "plus "
      "bytes written over event time.";
  row.points = [](const Device& device, Effort effort) { return memory_points(device, effort, 2); };
  return row;
}

}  // namespace warpmeter
