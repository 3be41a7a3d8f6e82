// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/determinism.h"

namespace {

__global__ void race(std::uint32_t* out) {
  std::uint32_t value = blockIdx.x * blockDim.x + threadIdx.x;
  const int turns = static_cast<int>(value % 5);
  for (int i = 0; i < turns; ++i) {
    value = value * 1664525u + 1013904223u;
    if (value & 1) {
      value ^= static_cast<std::uint32_t>(clock64());
    } else {
      atomicAdd(reinterpret_cast<float*>(out + 4096), 1.0f / static_cast<float>(1 + value % 1000));
    }
    const std::uint32_t place = 1 + atomicAdd(out, 1u) % 4095;
    out[place] = value;
  }
  __syncthreads();
  out[4097 + blockIdx.x * blockDim.x + threadIdx.x] = out[1 + value % 4095];
}

}  // namespace

void run_race(std::uint32_t* out, cudaStream_t stream) { race<<<16, 96, 0, stream>>>(out); }
