// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A program whose CUDA runtime is linked in: it can never meet the emulated one.
#include <cuda_runtime_api.h>

void run_endless(int* out);

int main() {
  run_endless(nullptr);
  return cudaDeviceSynchronize();
}
