// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/handles.h"

#include <cstring>

#include "cuda/check.h"

namespace warpmeter {

Stream make_stream() {
  cudaStream_t stream = nullptr;
  GPU_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  GPU_CHECK(cudaEventCreateWithFlags(&event, cudaEventDefault));
  return Event(event);
}

GraphExec instantiate(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  GPU_CHECK(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  GPU_CHECK(cudaMalloc(&memory, bytes));
  memory_ = UniqueHandle<void*, cudaFree>(memory);
}

MappedBuffer::MappedBuffer(std::size_t bytes) {
  void* memory = nullptr;
  GPU_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
  memory_ = UniqueHandle<void*, cudaFreeHost>(memory);
  std::memset(memory, 0, bytes);
  GPU_CHECK(cudaHostGetDevicePointer(&device_, memory, 0));
}

DeviceGuard::DeviceGuard(int ordinal) {
  GPU_CHECK(cudaGetDevice(&former_));
  GPU_CHECK(cudaSetDevice(ordinal));
}

DeviceGuard::~DeviceGuard() { (void)cudaSetDevice(former_); }

}  // namespace warpmeter
