// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace warpmeter {

// A CUDA runtime call failed: "file:line: call: cudaErrorName (text). remedy".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

// The text of a failed call. `file` is shortened to its name; the remedy is given where one is
// known.
std::string error_text(cudaError_t status, const char* file, int line, const char* call);

// Throws CudaError unless `status` is cudaSuccess. Also takes the runtime's stored error, so that
// the next unrelated check does not report this failure again.
void throw_if_failed(cudaError_t status, const char* file, int line, const char* call);

}  // namespace warpmeter

#define GPU_CHECK(call) ::warpmeter::throw_if_failed((call), __FILE__, __LINE__, #call)
