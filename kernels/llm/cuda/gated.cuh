// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {

// y = Activation::of(gate) up (kernels/llm/gated.h).

inline constexpr int gated_threads = 256;

template <class Activation, typename T, int width>
__device__ __forceinline__ void gate_at(const T* gate, const T* up, T* y) {
  float gates[width], ups[width];
  load(gate, gates);
  load(up, ups);
#pragma unroll
  for (int i = 0; i < width; ++i) gates[i] = Activation::of(gates[i]) * ups[i];
  store(y, gates);
}

// The matrices as flat arrays: one 16-byte vector per thread, and the elements after the last whole
// vector one each.
template <class Activation, typename T>
__global__ void __launch_bounds__(gated_threads)
    gated(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ y,
          std::int64_t vectors, int rest) {
  constexpr int width = full_width<T>;
  const std::int64_t at = std::int64_t{blockIdx.x} * gated_threads + threadIdx.x;
  if (at < vectors)
    gate_at<Activation, T, width>(gate + at * width, up + at * width, y + at * width);
  if (at < rest) {
    const std::int64_t single = vectors * width + at;
    gate_at<Activation, T, 1>(gate + single, up + single, y + single);
  }
}

// gate_up [rows, 2 columns], gate first; one thread per `width` elements of y.
template <class Activation, typename T, int width>
__global__ void __launch_bounds__(gated_threads)
    gated_packed(const T* __restrict__ gate_up, T* __restrict__ y, int columns,
                 std::int64_t pieces) {
  const std::int64_t piece = std::int64_t{blockIdx.x} * gated_threads + threadIdx.x;
  if (piece >= pieces) return;
  const std::int64_t to = piece * width, row = to / columns;
  const T* gate = gate_up + to + row * columns;
  gate_at<Activation, T, width>(gate, gate + columns, y + to);
}

template <class Activation>
void launch_gated(const RowsShape& shape, const void* gate, const void* up, void* y,
                  cudaStream_t stream) {
  const std::int64_t elements = shape.rows * shape.columns;
  for_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const std::int64_t vectors = elements / full_width<T>;
    const auto blocks = static_cast<unsigned>(vectors / gated_threads + 1);
    gated<Activation><<<blocks, gated_threads, 0, stream>>>(
        static_cast<const T*>(gate), static_cast<const T*>(up), static_cast<T*>(y), vectors,
        static_cast<int>(elements % full_width<T>));
  });
  GPU_CHECK(cudaGetLastError());
}

template <class Activation>
void launch_gated_packed(const RowsShape& shape, const void* gate_up, void* y,
                         cudaStream_t stream) {
  for_rows_of(shape.type, shape.columns, [&](auto element, auto width) {
    using T = decltype(element);
    const std::int64_t pieces = shape.rows * shape.columns / width;
    const auto blocks = static_cast<unsigned>((pieces + gated_threads - 1) / gated_threads);
    gated_packed<Activation, T, width>
        <<<blocks, gated_threads, 0, stream>>>(static_cast<const T*>(gate_up), static_cast<T*>(y),
                                               static_cast<int>(shape.columns), pieces);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
