// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/handles.h"

namespace warpmeter {

// Gives L2 back to normal use on the current device: no persisting lines, none reserved, no access
// window on `stream`. Persisting lines of an earlier program survive a flush otherwise and made
// "3530 GB/s" of an 864 GB/s memory (nvbench issue 458).
void reset_residency(cudaStream_t stream);

// Empties L2 of everything that matters by reading more than twice its size: what remains is clean,
// so that no write-back falls into the timed part.
class L2Flush {
 public:
  // `l2_bytes` of the current device. Allocates once, here.
  explicit L2Flush(std::size_t l2_bytes, int sm_count);
  void enqueue(cudaStream_t stream) const;
  std::size_t bytes() const { return data_.bytes(); }

 private:
  DeviceBuffer data_;
  DeviceBuffer sink_;
  int blocks_;
};

}  // namespace warpmeter
