// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/attention_combine.h"
#include "kernels/llm/cuda/dispatch.cuh"
#include "kernels/llm/cuda/reduce.cuh"

namespace warpmeter {
namespace {

struct Arguments {
  const float *partial, *statistics;
  const std::int32_t* lengths;
  int heads, heads_per_sequence, splits, chunk;
};

// One block per query head, one thread per column.
template <typename T, int size>
__global__ void __launch_bounds__(size) attention_combine(Arguments a, T* __restrict__ o) {
  const std::int64_t first =
      std::int64_t{blockIdx.x / a.heads} * a.splits * a.heads + blockIdx.x % a.heads;
  const int splits = (a.lengths[blockIdx.x / a.heads_per_sequence] + a.chunk - 1) / a.chunk;
  float top = Max::neutral, weight = 0, sum = 0;
  for (int s = 0; s < splits; ++s) top = fmaxf(top, a.statistics[2 * (first + s * a.heads)]);
  for (int s = 0; s < splits; ++s) {
    const std::int64_t part = first + s * a.heads;
    const float shrink = exp2_approximate(a.statistics[2 * part] - top);
    weight += shrink * a.statistics[2 * part + 1];
    sum += shrink * a.partial[part * size + threadIdx.x];
  }
  round_to(o[std::int64_t{blockIdx.x} * size + threadIdx.x], sum / weight);
}

template <typename T, int size>
void launch(const CombineShape& shape, const Arguments& arguments, void* o, cudaStream_t stream) {
  attention_combine<T, size>
      <<<static_cast<unsigned>(shape.groups * shape.heads), size, 0, stream>>>(arguments,
                                                                               static_cast<T*>(o));
}

}  // namespace

void launch_attention_combine(const CombineShape& shape, const float* partial,
                              const float* statistics, const std::int32_t* lengths, void* o,
                              cudaStream_t stream) {
  const Arguments arguments = {partial,
                               statistics,
                               lengths,
                               static_cast<int>(shape.heads),
                               static_cast<int>(shape.heads * shape.groups_per_sequence),
                               static_cast<int>(shape.splits),
                               static_cast<int>(shape.chunk)};
  for_half_type(shape.type, [&](auto element) {
    using T = decltype(element);
    const auto with_size = shape.size == 64    ? launch<T, 64>
                           : shape.size == 128 ? launch<T, 128>
                           : shape.size == 256 ? launch<T, 256>
                                               : launch<T, 512>;
    with_size(shape, arguments, o, stream);
  });
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
