// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "cuda/stamp.h"

namespace warpmeter {

__device__ __forceinline__ std::uint64_t read_clock() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ __forceinline__ std::uint64_t read_timer() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

__device__ __forceinline__ std::uint32_t sm_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Orders a later clock read after the instruction that produces `value`: the store cannot issue
// before its operand is there. Without it the clock is read while the last loads are in flight.
__device__ __forceinline__ void wait_for(std::uint32_t value) {
  __shared__ volatile std::uint32_t sink[32];
  sink[threadIdx.x & 31] = value;
}

// The timed loop stands between begin() and end(); every thread of the block calls both, and hands
// end() a value that depends on all of its work.
struct BlockTimer {
  std::uint64_t clock = 0;
  std::uint64_t time = 0;

  __device__ __forceinline__ void begin() {
    __syncthreads();
    time = read_timer();
    clock = read_clock();
  }

  __device__ __forceinline__ void end(std::uint32_t value, Stamp* stamp) const {
    wait_for(value);
    __syncthreads();
    const std::uint64_t clock_end = read_clock();
    const std::uint64_t time_end = read_timer();
    if (threadIdx.x == 0 && stamp != nullptr)
      *stamp = {clock, clock_end, time, time_end, sm_id(), 1};
  }
};

}  // namespace warpmeter
