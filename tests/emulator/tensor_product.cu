// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A tile of a matrix product as real kernels do it: both operands by tensor copies with a swizzle
// of 128 B, then wgmma on what lies there.
#include "tests/emulator/device_barrier.h"
#include "tests/emulator/tensor.h"

namespace {

constexpr unsigned a_bytes = 64 * 128;  // 64 x 64 halves

__device__ std::uint64_t descriptor(unsigned address, unsigned leading, unsigned stride) {
  return address >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
         std::uint64_t{1} << 62;
}

__device__ void load(const CUtensorMap& map, unsigned to, unsigned bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(0), "r"(0), "r"(bar)
      : "memory");
}

// d[64][8] = a[64][64] b, k in four steps of 16. A lies K-major, or M-major (a is k x m in memory);
// B, of 8 columns, K-major.
template <bool a_transposed>
__global__ void product(const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b, float* out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  const unsigned base = shared_address(shared);
  if (threadIdx.x == 0) {
    init_barrier(bar, 1);
    expect_bytes(bar, a_bytes + 8 * 128);
    load(a, base, bar);
    load(b, base + a_bytes, bar);
  }
  __syncthreads();
  wait_phase(bar, 0);
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (unsigned step = 0; step < 4; ++step) {
    // M-major: 16 rows of 128 B further; K-major: 32 B further in each row.
    const std::uint64_t left = a_transposed ? descriptor(base + step * 16 * 128, 0, 1024)
                                            : descriptor(base + step * 32, 0, 1024);
    const std::uint64_t right = descriptor(base + a_bytes + step * 32, 0, 1024);
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, %6, "
        "0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(left), "l"(right), "n"(a_transposed ? 1 : 0));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  const unsigned row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const unsigned column = threadIdx.x % 4 * 2;
  out[8 * row + column] = d[0];
  out[8 * row + column + 1] = d[1];
  out[8 * (row + 8) + column] = d[2];
  out[8 * (row + 8) + column + 1] = d[3];
}

}  // namespace

void run_tensor_product(const CUtensorMap& a, const CUtensorMap& b, int a_transposed, float* out) {
  if (a_transposed != 0) {
    product<true><<<1, 128, a_bytes + 1024>>>(a, b, out);
  } else {
    product<false><<<1, 128, a_bytes + 1024>>>(a, b, out);
  }
}
