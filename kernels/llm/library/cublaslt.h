// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "core/json.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// Why cuBLASLt cannot be used in this process: libcublasLt.so.13 is not there, or does not start on
// the current device (as on an emulated GPU, whose kernels must come as PTX). Null if it can.
std::optional<std::string> cublaslt_missing();

// A product by NVIDIA's cuBLASLt, on the current device, with the algorithm that its heuristics put
// first. result [m, n] = activations [m, k] weights [n, k]^T, rows contiguous:
//   f32 (no tf32), bf16, f16   result of the same type
//   e4m3                       sums in f32 times token and channel scales, result in bf16
//   int8                       sums in i32, which are the result
// Algorithms that split k and round partial sums to bf16 or f16 are excluded, so that the tolerance
// of a plain sum holds. Workspace: 32 MiB, what NVIDIA recommends for Hopper.
class CublasLtGemm {
 public:
  // Throws std::runtime_error: the library is missing, or has no algorithm for the shape.
  explicit CublasLtGemm(const GemmShape& shape);
  ~CublasLtGemm();

  // Enqueues one product; `scales` of e4m3 alone. Throws std::runtime_error if the library refuses.
  struct Scales {
    const void *token, *channel;  // f32 [m], [n]
  };
  void enqueue(const void* activations, const void* weights, void* result, cudaStream_t stream,
               const Scales& scales = {nullptr, nullptr}) const;

  // {implementation, library_version, algorithm: {id, tile, stages, split_k, reduction, waves,
  // workspace}}: cuBLASLt's own numbers (cublasLt.h: cublasLtMatmulTile_t, cublasLtMatmulStages_t,
  // ...); workspace in B.
  Json conditions() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace warpmeter
