// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cuda_runtime_api.h>

#include "tests/emulator/distributed.h"

namespace {

// The first block of a cluster of two hops along words in the shared memory of block `rank`.
__global__ void __cluster_dims__(2, 1, 1) hop(int rank, int hops, std::uint64_t* cycles) {
  __shared__ std::uint32_t next[64];
  __shared__ volatile std::uint32_t sink;
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(next));
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(base), "r"(rank));
  for (std::uint32_t i = 0; i < 64; ++i) next[i] = there + 4 * ((i + 17) % 64);
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (blockIdx.x == 0) {
    std::uint32_t at = there;
    sink = at;
    std::uint64_t begin, end;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin)::"memory");
#pragma unroll 1
    for (int i = 0; i < hops; i += 128) {
#pragma unroll
      for (int j = 0; j < 128; ++j) {
        asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
      }
    }
    sink = at;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(end)::"memory");
    *cycles = end - begin;
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

}  // namespace

void run_hop(int rank, int hops, std::uint64_t* cycles) { hop<<<2, 1>>>(rank, hops, cycles); }
