// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/clusters.h"
#include "tests/emulator/device_barrier.h"

namespace {

// Each thread reads what the same thread of the next block of its cluster wrote.
__global__ void __cluster_dims__(4, 1, 1) neighbours(std::uint32_t* out) {
  __shared__ std::uint32_t data[64];
  data[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
  cluster_sync();
  unsigned remote, value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(shared_address(&data[threadIdx.x])), "r"((cluster_rank() + 1) % 4));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  cluster_sync();  // nobody leaves while others read
}

// Two phases of one barrier: rows of `in` come by bulk copies, their sum goes back by one.
__global__ void bulk(std::uint32_t* out, const std::uint32_t* in) {
  __shared__ __align__(128) std::uint32_t row[256];
  __shared__ __align__(128) std::uint32_t sum[256];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(bar, 1);
  sum[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned phase = 0; phase < 4; ++phase) {
    if (threadIdx.x == 0) {
      expect_bytes(bar, 1024);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(shared_address(row)),
          "l"(in + 256 * phase), "r"(1024), "r"(bar)
          : "memory");
    }
    wait_phase(bar, phase & 1);
    sum[threadIdx.x] += row[threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"(shared_address(sum)), "r"(1024)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// The first block of each cluster of two copies a row into both.
__global__ void __cluster_dims__(2, 1, 1) multicast(std::uint32_t* out, const std::uint32_t* in) {
  __shared__ __align__(128) std::uint32_t row[64];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init_barrier(bar, 1);
    expect_bytes(bar, 256);
  }
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(row)),
        "l"(in + 64 * (blockIdx.x / 2)), "r"(256), "r"(bar), "h"(static_cast<unsigned short>(3))
        : "memory");
  }
  wait_phase(bar, 0);
  out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x] + cluster_rank();
  cluster_sync();
}

}  // namespace

void run_neighbours(std::uint32_t* out, int blocks) { neighbours<<<blocks, 64>>>(out); }
const void* neighbours_kernel() { return reinterpret_cast<const void*>(neighbours); }
void run_bulk(std::uint32_t* out, const std::uint32_t* in) { bulk<<<1, 256>>>(out, in); }
void run_multicast(std::uint32_t* out, const std::uint32_t* in, int blocks) {
  multicast<<<blocks, 64>>>(out, in);
}
