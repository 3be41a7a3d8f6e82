// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "cuda/handles.h"

namespace warpmeter {

// Times device work by two events behind a closed gate: the host queues everything first, then
// opens the gate, so that no submission cost lies between the events.
class Bracket {
 public:
  // Works on the current device. `timeout_s` bounds the time for which `enqueue` may block.
  explicit Bracket(double timeout_s = 5);

  // Seconds from the end of the work before `enqueue`'s to the end of `enqueue`'s. Nothing in
  // `enqueue` may synchronise, allocate or load a module, and every kernel in it must have run
  // before; it may queue at most about 500 operations (a full launch queue blocks the host). Throws
  // std::runtime_error if the gate had to give up, CudaError if the work failed.
  double time(cudaStream_t stream, const std::function<void(cudaStream_t)>& enqueue);

  // Seconds that two events with nothing between them report: the smallest of several tries.
  double empty_s(cudaStream_t stream);

 private:
  Event begin_;
  Event end_;
  MappedBuffer flags_;  // [0] released, [1] timed out; on lines of their own
  double timeout_s_;
};

}  // namespace warpmeter
