// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What a collector keeps of a kernel between the callback that delivers it and the store: small, of
// fixed size, without pointers into memory of others.
#pragma once

#include <cstdint>

namespace warpmeter {

struct KernelRecord {
  std::uint64_t start_ns = 0, end_ns = 0;  // both 0: the source has no time
  std::uint64_t graph_node = 0;            // 0: not launched by a graph
  std::uint32_t graph = 0;                 // 0: not launched by a graph
  std::uint32_t correlation = 0;           // wraps after 2^32 launches
  std::uint32_t name = 0;                  // NameTable
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t shared_static = 0, shared_dynamic = 0;
  std::uint16_t block[3] = {1, 1, 1};
  std::uint16_t registers = 0;
  std::uint8_t cluster[3] = {1, 1, 1};  // 0 as 1
};
static_assert(sizeof(KernelRecord) == 80);

// Correlation ids of 32 bits in the order of arrival, which is roughly that of launch, to 64 bits
// that never repeat: each is taken for the one nearest to the highest so far. Right as long as a
// record is less than 2^31 launches late or early.
class CorrelationUnwrapper {
 public:
  std::uint64_t unwrap(std::uint32_t id) {
    const auto distance = static_cast<std::int32_t>(id - static_cast<std::uint32_t>(highest_));
    if (distance >= 0) return highest_ += static_cast<std::uint32_t>(distance);
    const auto back = static_cast<std::uint64_t>(-static_cast<std::int64_t>(distance));
    if (back > highest_) return highest_ = id;  // before the first wrap there is nothing below 0
    return highest_ - back;
  }

 private:
  std::uint64_t highest_ = 0;
};

}  // namespace warpmeter
