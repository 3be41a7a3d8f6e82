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

// What can be executed again and again on the current device, with all that it needs there.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  // One execution, not waited for.
  virtual void enqueue(cudaStream_t stream) const = 0;

  // Whether the execution before was right. Throws std::runtime_error("corrupt: ...").
  virtual void verify(cudaStream_t stream) = 0;

  // What the record says: implementation, checked_results, ...
  virtual Json conditions() const = 0;
};

// A problem with its operands on the current device.
class DeviceKernel : public DeviceWork {
 public:
  // Uploads the inputs; results hold NaN until the first execution. Throws CudaError.
  DeviceKernel(Problem problem, PreparedLaunch launch, cudaStream_t stream);

  void enqueue(cudaStream_t stream) const override { launch_.launch(pointers_, stream); }

  // Copies the results back and compares them with double precision.
  void verify(cudaStream_t stream) override;

  Json conditions() const override;

 private:
  Problem problem_;
  PreparedLaunch launch_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<void*> pointers_;
};

}  // namespace warpmeter
