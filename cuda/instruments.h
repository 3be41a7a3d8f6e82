// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/stamp.h"

namespace warpmeter {

// The kernels that measuring itself needs. They are not benchmarks; those live in kernels/.

// Holds a stream until the host writes `released`, so that work can be queued behind it and then
// runs without waiting for the host. Gives up after `timeout_ns` and says so in `timed_out`.
struct GateArgs {
  const std::uint32_t* released = nullptr;  // mapped host memory
  std::uint32_t* timed_out = nullptr;       // mapped host memory
  std::uint64_t timeout_ns = 0;
};
void launch_gate(const GateArgs& args, cudaStream_t stream);

// Keeps `blocks` blocks busy with integer arithmetic for `cycles` cycles each and stamps them: a
// clock probe, and with many blocks a heater.
struct BusyArgs {
  Stamp* stamps = nullptr;  // one per block
  std::uint64_t cycles = 0;
};
void launch_busy(const BusyArgs& args, int blocks, int threads, cudaStream_t stream);

// Reads the timer until it has changed `steps` times; `smallest_ns` gets the smallest step seen.
struct TimerStepArgs {
  std::uint64_t* smallest_ns = nullptr;
  int steps = 0;
};
void launch_timer_step(const TimerStepArgs& args, cudaStream_t stream);

// Reads `vectors` x 16 B past L1, to replace the contents of L2 by clean lines.
struct SweepArgs {
  const uint4* data = nullptr;
  std::uint64_t vectors = 0;
  std::uint32_t* sink = nullptr;
};
void launch_sweep(const SweepArgs& args, int blocks, cudaStream_t stream);

// Loads all of the above, because a lazy load while a gate is closed would deadlock.
void preload_instruments();

// Loads `kernel` for the current device.
void preload(const void* kernel);

}  // namespace warpmeter
