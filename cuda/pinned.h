// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <optional>

#include "core/json.h"

namespace warpmeter {

// Page-locked, mapped host memory, bound to one NUMA node where that is possible: a copy across
// sockets can be several times slower (gearshifft issue 82: 12.1 against 3.8 GB/s).
class PinnedBuffer {
 public:
  // `node`: the GPU's NUMA node; null leaves the placement to the kernel. Throws CudaError if the
  // pages cannot be locked and std::system_error if they cannot be had.
  PinnedBuffer(std::size_t bytes, std::optional<int> node);
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;

  template <typename T>
  T* host() const {
    return static_cast<T*>(memory_);
  }
  template <typename T>
  T* device() const {
    return static_cast<T*>(device_);
  }
  std::size_t bytes() const { return bytes_; }

  // {numa_node_asked, numa_nodes_seen: where sampled pages really are, page_size}.
  Json placement() const;

 private:
  void* memory_ = nullptr;
  void* device_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<int> node_;
};

}  // namespace warpmeter
