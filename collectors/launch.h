// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warpmeter {

// A launch, as the callback of the API call that makes it sees it. Views are valid in that call.
struct LaunchInfo {
  std::string_view kernel;         // mangled name; of a graph's launch empty
  const void* function = nullptr;  // which one it is: CUfunction or CUgraphExec
  std::size_t device = 0;          // index in Target.devices
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::optional<std::int64_t> shared_static, shared_dynamic, registers;  // as Shape has them
  bool capturing = false;             // the stream is being captured: nothing runs now
  bool cooperative = false;           // its blocks wait for each other
  bool peer_mapped = false;           // memory of another GPU is mapped in the context
  std::optional<std::int64_t> graph;  // id of the graph that is launched as a whole
  std::span<const std::string_view> graph_kernels;  // of its nodes; empty: not known
};

// A kernel that no range may be put around, by its name, and why. Names are compared without
// underscores and case, so that mangled and plain ones match.
struct RefusedKernel {
  std::string_view part;
  std::string_view reason;
};
std::span<const RefusedKernel> refused_kernels();

// One line; null if a range may be put around the launch. A range makes the profiler wait for the
// launch alone: what waits for another launch, another process or another GPU would wait for ever.
std::optional<std::string_view> why_refused(const LaunchInfo& launch);
std::optional<std::string_view> why_refused(std::string_view kernel);

}  // namespace warpmeter
