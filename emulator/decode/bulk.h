// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"

namespace emulator {

// Parts of the bulk copies, with and without tensors.

// The address in `slot` of a lane, without its window.
std::uint64_t bulk_address(Warp& warp, std::int32_t slot, int lane, bool wide);
std::byte* bulk_shared(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint64_t bytes);

// Bytes that come to shared memory at some cycle and count at an mbarrier.
struct Delivery {
  std::uint64_t to = 0;
  std::uint64_t barrier = 0;
  std::uint32_t blocks = 0;  // a bit for each block of the cluster that gets them; 0: as `to` says
  std::uint64_t span = 0;    // bytes of shared memory that may change
  std::uint64_t bytes = 0;   // that the mbarrier counts
  std::uint64_t done = 0;    // cycle
};
// `write` gets the first of `span` bytes.
void deliver(Warp& warp, const Instr& instr, int lane, const Delivery& delivery,
             const std::function<void(std::byte*)>& write);

// The open group of bulk copies to global memory ends no earlier.
void note_bulk_store(Warp& warp, std::uint64_t done);

// Element by element: to = to OP from, for `bytes` bytes.
using BulkReduction = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);
// Null if there is no such reduction. `type` as in PTX: "bf16".
BulkReduction bulk_reduction(std::string_view op, std::string_view type);
std::string_view reduction_of(const ptx::Instruction& in);  // "add"; empty if there is none

void decode_tensor_copy(Builder& builder);

}  // namespace emulator
