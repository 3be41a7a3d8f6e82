// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/gated.cuh"
#include "kernels/llm/cuda/reduce.cuh"

namespace warpmeter {
namespace {

// x / (1 + exp(-2 u)), as kernels/llm/geglu.h has it, with exp(-2 u) = 2^(x (cubic x x + linear)).
struct GeluTanh {
  static __device__ __forceinline__ float of(float x) {
    constexpr double linear = -2 * 0.79788456080286536 * 1.44269504088896341;  // sqrt(2/pi) log2(e)
    constexpr double cubic = 0.044715 * linear;
    const float factor = fmaf(x * x, static_cast<float>(cubic), static_cast<float>(linear));
    return __fdividef(x, 1 + exp2_approximate(x * factor));
  }
};

}  // namespace

void launch_geglu(const RowsShape& shape, const void* gate, const void* up, void* y,
                  cudaStream_t stream) {
  launch_gated<GeluTanh>(shape, gate, up, y, stream);
}

void launch_geglu_packed(const RowsShape& shape, const void* gate_up, void* y,
                         cudaStream_t stream) {
  launch_gated_packed<GeluTanh>(shape, gate_up, y, stream);
}

}  // namespace warpmeter
