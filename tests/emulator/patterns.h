// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

// Kernels whose time is known in closed form: the patterns of the suite's benchmarks. Sizes `n` are
// multiples of 64 KiB, or of 64 steps.
enum class Pattern : std::uint8_t {
  spin,          // one thread, n cycles of the clock
  chase,         // one thread, n hops along pointers at `data`
  fma_chain,     // one warp, n dependent steps
  fma,           // 1024 threads, n trips of 64 steps
  mma,           // 512 threads, n trips of 16 products m16n8k16 of bf16
  shared,        // 256 threads, n trips of 8 loads of a word each
  stream_read,   // n bytes
  sector_read,   // n loads of one sector each by a warp, of the same 256 KiB
  cached_read,   // n bytes in all, the same 256 KiB over and over
  stream_write,  // n bytes
  stream_copy,   // n bytes to the same offset behind them
  atomics        // 256 threads, n trips of an atomic to one address
};
// Launches `blocks` blocks (one for those of one thread or warp). `data` is device memory.
void run_pattern(Pattern pattern, int blocks, std::size_t n, void* data,
                 cudaStream_t stream = nullptr);
