// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <span>
#include <vector>

#include "core/json.h"
#include "cuda/handles.h"
#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

// Enqueues one execution of a kernel on device pointers, one per operand of its problem.
using Launch = std::function<void(std::span<void* const> operands, cudaStream_t stream)>;

// A launch, and what the record says about it.
struct PreparedLaunch {
  Launch launch;
  Json conditions = Json::object();
};

// A problem with its operands on the current device.
class DeviceKernel {
 public:
  // Uploads the inputs; results hold NaN until the first execution. Throws CudaError.
  DeviceKernel(Problem problem, Launch launch, cudaStream_t stream);

  // One execution, not waited for.
  void enqueue(cudaStream_t stream) const { launch_(pointers_, stream); }

  // Copies the results back and compares them with double precision. Throws
  // std::runtime_error("corrupt: ...").
  void verify(cudaStream_t stream);

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  Launch launch_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<void*> pointers_;
};

}  // namespace warpmeter
