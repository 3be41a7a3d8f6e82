// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Launches a kernel that is in the program as machine code only (built so by CMakeLists.txt), or
// one that never ends; prints the error's name.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

void run_sass_only(int* out);
void run_endless(int* out);

void run_sass_only(int* out);
void run_endless(int* out);

int main(int argc, char** argv) {
  int* out = nullptr;
  if (argc != 2 || cudaMalloc(reinterpret_cast<void**>(&out), 4) != cudaSuccess ||
      cudaMemset(out, 0, 4) != cudaSuccess) {
    return 2;
  }
  if (std::strcmp(argv[1], "endless") == 0)
    run_endless(out);
  else
    run_sass_only(out);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return 0;
}
