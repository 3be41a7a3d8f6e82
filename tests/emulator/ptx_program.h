// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

// A kernel named "test" from PTX text, wrapped as nvcc wraps it. With EMULATOR_PTX_DIR set, each
// text is also written there, for ptxas to judge.
class PtxProgram {
 public:
  // `body`: what stands between the braces. Parameters are 64-bit: p0, p1, ...
  PtxProgram(const std::string& target, int parameters, const std::string& body,
             const std::string& before = {});

  cudaError_t loaded() const { return loaded_; }
  cudaError_t start(dim3 grid, dim3 block, const std::vector<const void*>& arguments,
                    unsigned shared = 0) const;
  // Starts it and waits.
  cudaError_t run(dim3 grid, dim3 block, const std::vector<const void*>& arguments,
                  unsigned shared = 0) const;
  const void* kernel() const { return kernel_; }

 private:
  std::vector<std::byte> image_;
  cudaError_t loaded_ = cudaErrorUnknown;
  cudaKernel_t kernel_ = nullptr;
};
