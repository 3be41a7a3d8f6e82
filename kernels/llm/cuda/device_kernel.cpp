// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/device_kernel.h"

#include "cuda/check.h"

namespace warpmeter {

DeviceKernel::DeviceKernel(Problem problem, Launch launch, cudaStream_t stream)
    : problem_(std::move(problem)), launch_(std::move(launch)) {
  for (const Operand& operand : problem_.operands) {
    if (operand.role == Role::output || operand.role == Role::scratch) poison(operand);
    const DeviceBuffer& buffer = buffers_.emplace_back(operand.memory.size());
    pointers_.push_back(buffer.as<void>());
    GPU_CHECK(cudaMemcpyAsync(buffer.as<void>(), operand.memory.data(), operand.memory.size(),
                              cudaMemcpyHostToDevice, stream));
  }
  GPU_CHECK(cudaStreamSynchronize(stream));
}

void DeviceKernel::verify(cudaStream_t stream) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Operand& operand = problem_.operands[i];
    if (operand.role != Role::output && operand.role != Role::updated) continue;
    GPU_CHECK(cudaMemcpyAsync(operand.memory.data(), pointers_[i], operand.memory.size(),
                              cudaMemcpyDeviceToHost, stream));
  }
  GPU_CHECK(cudaStreamSynchronize(stream));
  problem_.verify();
}

}  // namespace warpmeter
