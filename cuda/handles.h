// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace warpmeter {

// Owns one runtime handle. The destructor ignores the status: a failed destroy cannot be handled.
template <typename Handle, auto destroy>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != Handle{}) (void)destroy(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

using Stream = UniqueHandle<cudaStream_t, cudaStreamDestroy>;
using Event = UniqueHandle<cudaEvent_t, cudaEventDestroy>;
using Graph = UniqueHandle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = UniqueHandle<cudaGraphExec_t, cudaGraphExecDestroy>;
using Library = UniqueHandle<cudaLibrary_t, cudaLibraryUnload>;

// Factories work on the current device and throw CudaError.
Stream make_stream();  // non-blocking: does not order itself after the legacy default stream
Event make_event();    // with timing
GraphExec instantiate(const Graph& graph);

// Uninitialised memory of the current device, aligned to at least 256 B.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes);
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  UniqueHandle<void*, cudaFree> memory_;
  std::size_t bytes_ = 0;
};

// Page-locked host memory of a few words that kernels can read and write while they run; zeroed.
class MappedBuffer {
 public:
  MappedBuffer() = default;
  explicit MappedBuffer(std::size_t bytes);
  template <typename T>
  T* host() const {
    return static_cast<T*>(memory_.get());
  }
  template <typename T>
  T* device() const {
    return static_cast<T*>(device_);
  }

 private:
  UniqueHandle<void*, cudaFreeHost> memory_;
  void* device_ = nullptr;
};

// Makes `ordinal` the current device and restores the former one.
class DeviceGuard {
 public:
  explicit DeviceGuard(int ordinal);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int former_ = 0;
};

}  // namespace warpmeter
