// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/gated.cuh"

namespace warpmeter {
namespace {

struct Silu {
  static __device__ __forceinline__ float of(float x) { return __fdividef(x, 1 + __expf(-x)); }
};

}  // namespace

void launch_swiglu(const RowsShape& shape, const void* gate, const void* up, void* y,
                   cudaStream_t stream) {
  launch_gated<Silu>(shape, gate, up, y, stream);
}

void launch_swiglu_packed(const RowsShape& shape, const void* gate_up, void* y,
                          cudaStream_t stream) {
  launch_gated_packed<Silu>(shape, gate_up, y, stream);
}

}  // namespace warpmeter
