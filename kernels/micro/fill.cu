// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/micro/fill.h"
#include "kernels/micro/pattern.h"

namespace warpmeter {
namespace {

constexpr int blocks = 1024;
constexpr int threads = 256;

__device__ std::uint64_t first_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t index_step() { return std::uint64_t{gridDim.x} * blockDim.x; }

__global__ void fill(FillArgs args) {
  for (std::uint64_t i = first_index(); i < args.words; i += index_step()) {
    args.data[i] = pattern_word(static_cast<std::uint32_t>(i), args.seed);
  }
}

__global__ void link(LinkArgs args) {
  for (std::uint64_t i = first_index(); i < args.count; i += index_step()) {
    *reinterpret_cast<char**>(args.base + args.from[i] * link_unit) =
        args.base + args.to[i] * link_unit;
  }
}

}  // namespace

void launch_fill(const FillArgs& args, cudaStream_t stream) {
  fill<<<blocks, threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

void launch_link(const LinkArgs& args, cudaStream_t stream) {
  link<<<blocks, threads, 0, stream>>>(args);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
