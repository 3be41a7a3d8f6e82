// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/checks.h"

namespace {

__device__ void copy_async(std::uint32_t* shared, const std::uint32_t* from) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// The templates' names tell the kernels apart in warnings.
template <int which>
__global__ void checked(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ volatile std::uint32_t words[64];
  __shared__ volatile std::uint8_t bytes[64];
  __shared__ std::uint32_t sum;
  const unsigned t = threadIdx.x, other = t ^ 32;
  if constexpr (which == reads_all) out[t] = in[t];
  if constexpr (which == writes_all) out[t] = t;
  if constexpr (which == reads_shared || which == reads_local || which == writes_then_reads_local) {
    std::uint32_t array[32];
    const unsigned n = which == writes_then_reads_local ? 32 : 16;
    if (which == reads_shared && t < 32) sum = 1;
    for (unsigned i = 0; i < n; ++i) array[(i + t) % 32] = i;
    if constexpr (which == reads_shared) {
      __shared__ std::uint32_t half[64];
      if (t < 32) half[t] = t;
      __syncthreads();
      out[t] = half[t];
    } else {
      out[t] = array[(t + 31 - out[0] % 2) % 32];
    }
  }
  // Plain accesses, which the compiler must not keep in registers.
  auto* plain = const_cast<std::uint32_t*>(words);
  if constexpr (which == race_read || which == with_barrier) {
    plain[t] = t;
    if (which == with_barrier) __syncthreads();
    asm volatile("" ::: "memory");
    out[t] = plain[other];
    if (which == with_barrier) __syncthreads();
  }
  if constexpr (which == race_write || which == with_barrier) {
    if (t < 32 || which == with_barrier) plain[t] = t;
    if (which == with_barrier) __syncthreads();
    asm volatile("" ::: "memory");
    if (t < 32) out[t] = plain[t];
    if (which == with_barrier) __syncthreads();
    asm volatile("" ::: "memory");
    if (t >= 32) plain[other] = t;
  }
  if constexpr (which == bytes_of_a_word) {
    auto* mine = const_cast<std::uint8_t*>(bytes) + (t % 32) * 2 + t / 32;
    *mine = static_cast<std::uint8_t>(t);
    asm volatile("" ::: "memory");
    out[t] = *mine;
  }
  if constexpr (which == shared_atomics) {
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, t);
    __syncthreads();
    out[t] = sum;
  }
  if constexpr (which == flag) {
    volatile std::uint32_t* ready = words;
    if (t == 0) *ready = 0;
    __syncthreads();
    if (t < 32) {
      plain[1 + t] = t;
      __syncwarp();
      __threadfence_block();
      if (t == 0) *ready = 1;
    } else {
      while (*ready == 0) {
      }
      out[t] = plain[1 + t - 32];
    }
  }
  if constexpr (which == half_shuffles) {
    out[t] = t % 32 < 16 ? __shfl_sync(~0u, t, 1) : __shfl_sync(~0u, t + 1, 2) * 3;
  }
  if constexpr (which == foreign_lane) {
    asm volatile("bar.warp.sync 0x7fffffff;");
    out[t] = t;
  }
  if constexpr (which == async_race) {
    copy_async(plain + t, in + t);
    out[t] = plain[other];
  }
}

using Kernel = void (*)(const std::uint32_t*, std::uint32_t*);
constexpr Kernel kernels[] = {checked<0>,  checked<1>,  checked<2>,  checked<3>, checked<4>,
                              checked<5>,  checked<6>,  checked<7>,  checked<8>, checked<9>,
                              checked<10>, checked<11>, checked<12>, checked<13>};

}  // namespace

void run_checked(int which, std::uint32_t* in, std::uint32_t* out) {
  kernels[which]<<<1, 64>>>(in, out);
}
