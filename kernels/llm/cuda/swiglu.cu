// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

constexpr int threads = 256;

template <typename T, int width>
__device__ __forceinline__ void swiglu_at(const T* gate, const T* up, T* y) {
  float gates[width], ups[width];
  load(gate, gates);
  load(up, ups);
#pragma unroll
  for (int i = 0; i < width; ++i) gates[i] = __fdividef(gates[i], 1 + __expf(-gates[i])) * ups[i];
  store(y, gates);
}

// The matrices as flat arrays: one 16-byte vector per thread, and the elements after the last whole
// vector one each.
template <typename T>
__global__ void __launch_bounds__(threads)
    swiglu(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ y,
           std::int64_t vectors, int rest) {
  constexpr int width = full_width<T>;
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < vectors) swiglu_at<T, width>(gate + at * width, up + at * width, y + at * width);
  if (at < rest) {
    const std::int64_t single = vectors * width + at;
    swiglu_at<T, 1>(gate + single, up + single, y + single);
  }
}

}  // namespace

void launch_swiglu(const RowsShape& shape, const void* gate, const void* up, void* y,
                   cudaStream_t stream) {
  const std::int64_t elements = shape.rows * shape.columns;
  for_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const std::int64_t vectors = elements / full_width<T>;
    const auto blocks = static_cast<unsigned>(vectors / threads + 1);
    swiglu<<<blocks, threads, 0, stream>>>(static_cast<const T*>(gate), static_cast<const T*>(up),
                                           static_cast<T*>(y), vectors,
                                           static_cast<int>(elements % full_width<T>));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
