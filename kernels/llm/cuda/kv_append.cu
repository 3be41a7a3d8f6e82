// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/e4m3.cuh"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

constexpr int threads = 128;

struct Layout {
  std::int64_t stride;  // of tokens
  int heads, kv_heads, head_size, page_size;
};

template <typename T, int width>
__device__ __forceinline__ void append(const T* from, T* to, float) {
  if constexpr (width == 1)
    *to = *from;
  else
    store16(to, load16(from));
}

template <typename T, int width>
__device__ __forceinline__ void append(const T* from, E4m3* to, float scale) {
  float values[width];
  load_16(from, values);
  store_quotients(to, values, scale);
}

// blockIdx.x chooses the token, blockIdx.y a part of its keys and values, which lie side by side in
// the row; each thread moves `width` elements of a head.
template <typename T, typename Cache, int width>
__global__ void __launch_bounds__(threads)
    kv_append(const T* __restrict__ qkv, const std::int32_t* __restrict__ slots,
              const float* __restrict__ scales, Cache* __restrict__ k_cache,
              Cache* __restrict__ v_cache, Layout layout) {
  const int at = static_cast<int>(blockIdx.y * threads + threadIdx.x) * width;
  const int both = 2 * layout.kv_heads;
  const int slot = slots[blockIdx.x];
  if (slot < 0 || at >= both * layout.head_size) return;
  const int head = at / layout.head_size;  // of K's, then of V's
  const bool value = head >= layout.kv_heads;
  const std::int64_t page = slot / layout.page_size, offset = slot % layout.page_size;
  const std::int64_t line =
      (page * layout.kv_heads + (value ? head - layout.kv_heads : head)) * layout.page_size +
      offset;
  const T* from = qkv + blockIdx.x * layout.stride + layout.heads * layout.head_size + at;
  Cache* to = (value ? v_cache : k_cache) + line * layout.head_size + at % layout.head_size;
  const float scale = std::is_same_v<Cache, E4m3> ? scales[value] : 1.0f;
  append<T, width>(from, to, scale);
}

template <typename T, typename Cache, int width>
void launch(const KvAppendShape& shape, const void* qkv, const void* slots, const void* scales,
            void* k_cache, void* v_cache, cudaStream_t stream) {
  const Layout layout = {token_stride(shape), static_cast<int>(shape.heads),
                         static_cast<int>(shape.kv_heads), static_cast<int>(shape.head_size),
                         static_cast<int>(shape.page_size)};
  const std::int64_t pieces = 2 * shape.kv_heads * shape.head_size / width;
  const dim3 blocks(static_cast<unsigned>(shape.tokens),
                    static_cast<unsigned>((pieces + threads - 1) / threads));
  kv_append<T, Cache, width><<<blocks, threads, 0, stream>>>(
      static_cast<const T*>(qkv), static_cast<const std::int32_t*>(slots),
      static_cast<const float*>(scales), static_cast<Cache*>(k_cache), static_cast<Cache*>(v_cache),
      layout);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace

void launch_kv_append(const KvAppendShape& shape, const void* qkv, const void* slots,
                      const void* scales, void* k_cache, void* v_cache, cudaStream_t stream) {
  const bool whole_vectors = token_stride(shape) % 8 == 0;
  if (shape.cache != Element::e4m3) {  // both types have 16 bits, which do not change
    using Bits = std::uint16_t;
    const auto f =
        whole_vectors && shape.head_size % 8 == 0 ? launch<Bits, Bits, 8> : launch<Bits, Bits, 1>;
    f(shape, qkv, slots, scales, k_cache, v_cache, stream);
    return;
  }
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto f =
        whole_vectors && shape.head_size % 16 == 0 ? launch<T, E4m3, 16> : launch<T, E4m3, 1>;
    f(shape, qkv, slots, scales, k_cache, v_cache, stream);
  });
}

}  // namespace warpmeter
