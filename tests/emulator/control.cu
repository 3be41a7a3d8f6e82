// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cstdio>

#include "tests/emulator/kernels.h"

namespace {

__device__ std::uint32_t counter;
__device__ std::uint32_t arrived;
__constant__ std::uint32_t weights[4] = {1, 10, 100, 1000};

__global__ void nested(std::uint32_t* out) {
  const unsigned t = threadIdx.x;
  std::uint32_t r = 0;
  if (t & 1) {
    if (t & 2)
      r += 1;
    else
      r += 2;
    if (t & 4) r += 10;
  } else {
    if (t % 3 == 0)
      r += 100;
    else if (t % 3 == 1)
      r += 200;
    else
      r += 300;
  }
  __syncwarp();
  out[t] = r + weights[t & 3] * 1000;
}

__global__ void trips(std::uint32_t* out) {
  std::uint32_t r = 0;
  for (unsigned i = 0; i < threadIdx.x * 7; ++i) {
    if (i % 5 == 4) continue;
    if (r > 1500) break;
    r += i;
  }
  out[threadIdx.x] = r;
}

// A lock that lanes of one warp take in turn: needs progress of lanes that others wait for.
__global__ void lane_lock(std::uint32_t* out) {
  __shared__ std::uint32_t lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0u, 1u) != 0) {
  }
  const std::uint32_t before = *(volatile std::uint32_t*)&sum;
  *(volatile std::uint32_t*)&sum = before + threadIdx.x;
  __threadfence_block();
  atomicExch(&lock, 0u);
  __syncthreads();
  out[threadIdx.x] = sum;
}

// Warp 0 writes, warp 1 waits for a flag and reads: a spin across warps.
__global__ void producer(std::uint32_t* out) {
  __shared__ volatile std::uint32_t data[32];
  __shared__ volatile std::uint32_t flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    while (flag == 0) {
    }
    out[threadIdx.x] = data[31 - lane];
  } else {
    std::uint32_t x = lane;
    for (int i = 0; i < 100; ++i) x = x * 3 + 1;
    data[lane] = x;
    __syncwarp();
    __threadfence_block();
    if (lane == 0) flag = 1;
    out[threadIdx.x] = x;
  }
}

// All blocks wait for each other, as cooperative groups do it.
__global__ void grid_barrier(std::uint32_t* out) {
  if (threadIdx.x == 0) {
    atomicAdd(&counter, blockIdx.x + 1);
    __threadfence();
    atomicAdd(&arrived, 1u);
    while (*(volatile std::uint32_t*)&arrived < gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = *(volatile std::uint32_t*)&counter;
}

__global__ void many_ways(std::uint32_t* out) {
  std::uint32_t r = 0;
  switch (threadIdx.x % 12) {
    case 0:
      r = 5;
      break;
    case 1:
      r = threadIdx.x * 3;
      break;
    case 2:
      r = threadIdx.x ^ 77;
      break;
    case 3:
      r = 9;
      break;
    case 4:
      r = threadIdx.x + 4;
      break;
    case 5:
      r = 1000 - threadIdx.x;
      break;
    case 6:
      r = threadIdx.x << 3;
      break;
    case 7:
      r = 42;
      break;
    case 8:
      r = threadIdx.x / 3;
      break;
    case 9:
      r = threadIdx.x % 7;
      break;
    default:
      r = 1;
  }
  out[threadIdx.x] = r;
}

struct Pair {
  std::uint32_t a;
  std::uint64_t b;
};
__device__ __noinline__ Pair called(std::uint32_t x, Pair p) {
  if (x % 2 == 0) return {p.a + x, p.b * 2};
  return {p.a * x, p.b + 5};
}
__device__ __noinline__ std::uint32_t caller(std::uint32_t x) {
  Pair p{x + 1, x};
  for (std::uint32_t i = 0; i < x % 5; ++i) p = called(x + i, p);
  std::uint32_t local[8];
  for (int i = 0; i < 8; ++i) local[(i * x) % 8] = i + p.a;
  return p.a + static_cast<std::uint32_t>(p.b) + local[x % 8 == 0 ? 0 : 0];
}
__global__ void calls(std::uint32_t* out) { out[threadIdx.x] = caller(threadIdx.x); }

// Lanes that end early do not hold up the rest.
__global__ void exits(std::uint32_t* out) {
  if (threadIdx.x % 3 == 1) return;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x + 1;
}

__global__ void shuffles(std::uint32_t* out) {
  const std::uint32_t t = threadIdx.x;
  std::uint32_t r = __shfl_sync(~0u, t * 2, (t + 5) % 32);
  r += 1000 * __shfl_up_sync(~0u, t, 3);
  r += 100000 * __shfl_down_sync(~0u, t, 2, 8);
  r ^= __shfl_xor_sync(~0u, t, 9) << 27;
  out[t] = r;
}

__global__ void votes(std::uint32_t* out) {
  const std::uint32_t t = threadIdx.x;
  const std::uint32_t odd = __ballot_sync(~0u, t & 1);
  std::uint32_t r = odd;
  if (t < 20) r ^= __ballot_sync(0xfffff, t % 3 == 0);
  r += __any_sync(~0u, t == 31) * 2 + __all_sync(~0u, t < 31) * 4;
  r += __popc(__activemask()) << 8;
  r += __reduce_add_sync(~0u, t) << 16;
  out[t] = r;
}

__global__ void matches(std::uint32_t* out) {
  int same = 0;
  const std::uint32_t t = threadIdx.x;
  const std::uint32_t any = __match_any_sync(~0u, t % 5);
  const std::uint32_t all = __match_all_sync(~0u, 7, &same);
  out[t] = any ^ (all & (same ? 0xf0f0f0f0u : 0u));
}

__global__ void barrier_reductions(std::uint32_t* out) {
  const std::uint32_t t = threadIdx.x;
  std::uint32_t r = __syncthreads_count(t % 3 == 0);
  r += 1000 * __syncthreads_or(t == 5) + 2000 * __syncthreads_and(t < 1000) +
       4000 * __syncthreads_and(t < 5);
  out[t] = r;
}

__global__ void async_copy(std::uint32_t* out) {
  __shared__ __align__(16) std::uint32_t buffer[128 * 4];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(buffer + 4 * threadIdx.x));
  const std::uint32_t* from = out + 1024 + 4 * threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = buffer[(threadIdx.x * 4 + 7) % (blockDim.x * 4)];
}

__global__ void prints(std::uint32_t* out) {
  out[threadIdx.x] =
      printf("thread %d of %s: %.2f %llu\n", threadIdx.x, "block", threadIdx.x * 0.25, 1ull << 40);
}

// Two halves of the block meet at barriers of their own.
__global__ void named_barriers(std::uint32_t* out) {
  __shared__ std::uint32_t data[256];
  const unsigned half = blockDim.x / 2, id = threadIdx.x / half;
  data[threadIdx.x] = threadIdx.x * 2;
  asm volatile("bar.sync %0, %1;" ::"r"(id + 1), "r"(half) : "memory");
  out[threadIdx.x] = data[id * half + (threadIdx.x + 33) % half];
}

__global__ void atomics(std::uint32_t* out) {
  __shared__ std::uint32_t s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = threadIdx.x == 3 ? 0xffffffff : 0;
  __syncthreads();
  const std::uint32_t t = threadIdx.x;
  atomicAdd(&s[0], t);
  atomicMax(&s[1], t * 3);
  atomicOr(&s[2], 1u << (t % 32));
  atomicMin(&s[3], t + 9);
  atomicInc(&s[4], 10);
  atomicXor(&s[5], t);
  atomicAdd(reinterpret_cast<float*>(&s[6]), 0.5f);
  __syncthreads();
  out[t] = s[t % 8];
}

using Kernel = void (*)(std::uint32_t*);
constexpr Kernel kernels[] = {nested,       trips,     lane_lock,      producer,
                              grid_barrier, many_ways, calls,          exits,
                              shuffles,     votes,     matches,        barrier_reductions,
                              async_copy,   prints,    named_barriers, atomics};

__global__ void fault(int which, std::uint32_t* data) {
  extern __shared__ std::uint32_t shared[];
  if (which == fault_bounds && threadIdx.x == 33) data[4096] = 1;
  if (which == fault_misaligned)
    *reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(data) + 2) = 1;
  if (which == fault_shared) shared[threadIdx.x + 100] = 1;
  if (which == fault_trap) __trap();
  if (which == fault_forever)
    while (*(volatile std::uint32_t*)data != 77) {
    }
  if (which == fault_barrier && threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  data[threadIdx.x] = 1;
}
__global__ void unsupported(std::uint32_t* data) {
  asm volatile("pmevent 1; vadd4.u32.u32.u32 %0, %0, %0, %0;" : "+r"(data[0]));
}
__global__ void spin(const volatile std::uint32_t* flag, std::uint32_t* out) {
  while (*flag == 0) {
  }
  *out += 1;
}
__global__ void add(std::uint32_t* out, std::uint32_t value) { *out += value; }

}  // namespace

void run_control(int which, std::uint32_t* out, int blocks, int threads) {
  kernels[which]<<<blocks, threads>>>(out);
}
const void* control_kernel(int which) { return reinterpret_cast<const void*>(kernels[which]); }
void run_fault(int which, std::uint32_t* data) {
  if (which == fault_unsupported)
    unsupported<<<1, 64>>>(data);
  else
    fault<<<1, 64, 64>>>(which, data);
}
void run_spin(const volatile std::uint32_t* flag, std::uint32_t* out, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(flag, out);
}
void run_add(std::uint32_t* out, std::uint32_t value, cudaStream_t stream) {
  add<<<1, 1, 0, stream>>>(out, value);
}
