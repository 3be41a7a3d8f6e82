// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

namespace warpmeter {

// A function of the CUDA runtime or driver that launches work, with CUPTI's number of it. Those of
// the per-thread default stream and of former versions are other functions for CUPTI. <<<>>> is
// __cudaLaunchKernel since CUDA 13.
struct LaunchCall {
  std::uint32_t id;  // CUpti_CallbackId
  const char* name;  // without version and suffix: "cudaLaunchKernel"
  bool kernels;      // it launches kernels (or graphs), not only copies and sets
};

std::span<const LaunchCall> runtime_launch_calls();
std::span<const LaunchCall> driver_launch_calls();

// Null if it is none of them.
const LaunchCall* find_launch_call(std::span<const LaunchCall> calls, std::uint32_t id);

}  // namespace warpmeter
