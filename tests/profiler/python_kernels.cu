// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the Python program of python_profile_test.py calls. Every function returns a cudaError_t.
#include <cuda_runtime.h>

namespace {

constexpr int n = 256;

__global__ void short_kernel(float* data) { data[threadIdx.x] += 1; }

__global__ void long_kernel(float* data) {
  float value = data[threadIdx.x];
  for (int k = 0; k < 512; ++k) value = value * 0.5f + 1;
  data[threadIdx.x] = value;
}

}  // namespace

extern "C" {

int make_worker(float** data, cudaStream_t* stream) {
  if (const int error = cudaMalloc(data, n * sizeof(float))) return error;
  if (const int error = cudaMemset(*data, 0, n * sizeof(float))) return error;
  return cudaStreamCreate(stream);
}

int launch_short(float* data, cudaStream_t stream) {
  short_kernel<<<1, n, 0, stream>>>(data);
  return cudaGetLastError();
}

int launch_long(float* data, cudaStream_t stream) {
  long_kernel<<<1, n, 0, stream>>>(data);
  return cudaGetLastError();
}

int wait_for(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

}  // extern "C"
