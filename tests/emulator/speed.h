// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>

// Kernels whose emulation is timed: the patterns of the suite's benchmarks. Each is launched once,
// with `n` trips or bytes; `data` is device memory of at least `n` bytes for those that read it.
enum class SpeedKernel : std::uint8_t {
  spin,         // one thread, n cycles of the clock
  chase,        // one thread, n hops along pointers at `data`
  fma_chain,    // one warp, n dependent steps
  fma,          // all SMs, 1024 threads each, n trips of 64 steps
  mma,          // all SMs, 512 threads each, n trips of 16 products
  shared,       // all SMs, 256 threads each, n trips of 8 loads
  stream_read,  // all SMs, n bytes
  stream_copy,  // all SMs, n bytes to the same offset behind them
  atomics       // all SMs, 256 threads each, n trips of an atomic to one address
};
void run_speed_kernel(SpeedKernel kernel, int sms, std::size_t n, void* data);
