// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/e4m3.cuh"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/reduce.cuh"

namespace warpmeter {
namespace {

// One block per row, 16 elements per thread, kept packed in registers, so that x is read once.
template <typename T>
__global__ void __launch_bounds__(1024)
    quantize_token(const T* __restrict__ x, E4m3* __restrict__ y, float* __restrict__ scales,
                   int columns) {
  const int at = static_cast<int>(threadIdx.x) * 16;
  x += std::int64_t{blockIdx.x} * columns + at;
  uint4 low = {}, high = {};
  if (at < columns) low = load16(x), high = load16(x + 8);
  float values[16];
  unpack_16<T>(low, high, values);
  const float scale = scale_for(reduce_block<Max>(larger_magnitude(0, values)));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  if (at >= columns) return;
  unpack_16<T>(low, high, values);
  store_quotients(y + std::int64_t{blockIdx.x} * columns + at, values, scale);
}

// The same for rows that are not whole vectors: single elements, read twice.
template <typename T>
__global__ void __launch_bounds__(1024)
    quantize_token_single(const T* __restrict__ x, E4m3* __restrict__ y, float* __restrict__ scales,
                          int columns) {
  x += std::int64_t{blockIdx.x} * columns;
  y += std::int64_t{blockIdx.x} * columns;
  float value[1];
  float top = 0;
  for (int at = static_cast<int>(threadIdx.x); at < columns; at += static_cast<int>(blockDim.x)) {
    load(x + at, value);
    top = larger_magnitude(top, value);
  }
  const float scale = scale_for(reduce_block<Max>(top));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int at = static_cast<int>(threadIdx.x); at < columns; at += static_cast<int>(blockDim.x)) {
    load(x + at, value);
    store_quotients(y + at, value, scale);
  }
}

}  // namespace

void launch_quantize_token(const RowsShape& shape, const void* x, void* y, void* scales,
                           cudaStream_t stream) {
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto kernel = shape.columns % 16 == 0 ? quantize_token<T> : quantize_token_single<T>;
    const int threads = row_threads(shape.columns, 16);
    kernel<<<static_cast<unsigned>(shape.rows), threads, 0, stream>>>(
        static_cast<const T*>(x), static_cast<E4m3*>(y), static_cast<float*>(scales),
        static_cast<int>(shape.columns));
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
