// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "core/json.h"
#include "kernels/llm/attention_layout.h"

namespace warpmeter {

// Why cuDNN cannot be used on the current device: libcudnn.so.9 is not there, or does not start (as
// on an emulated GPU). Null if it can.
std::optional<std::string> cudnn_missing();

// Causal attention by NVIDIA's cuDNN, as one graph with the first engine of its heuristics, on the
// current device. bf16 or f16, any layout; q, k and v at the layout's places of one tensor.
class CudnnAttention {
 public:
  // Throws std::runtime_error: the library is missing, or has no engine for the shape.
  CudnnAttention(const AttentionShape& shape, const AttentionLayout& layout);
  ~CudnnAttention();

  // Throws std::runtime_error if the library refuses.
  void enqueue(const void* qkv, void* o, cudaStream_t stream) const;

  // {implementation, library_version, workspace: B}.
  Json conditions() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace warpmeter
