// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/patterns.h"

namespace {

__global__ void spin(std::uint64_t cycles, std::uint64_t* out) {
  const auto begin = static_cast<std::uint64_t>(clock64());
  std::uint64_t now = begin;
  while (now - begin < cycles) now = static_cast<std::uint64_t>(clock64());
  *out = now;
}

__global__ void chase(const char* at, std::size_t hops, const char** out) {
#pragma unroll 1
  for (std::size_t i = 0; i < hops; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
  }
  *out = at;
}

__device__ __forceinline__ void step(float& x) {
  asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(0.5f));
}

__global__ void fma_chain(std::size_t steps, float* out) {
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (std::size_t i = 0; i < steps; i += 64) {
#pragma unroll
    for (int j = 0; j < 64; ++j) step(x);
  }
  out[threadIdx.x] = x;
}

__global__ void __launch_bounds__(1024) fma(std::size_t trips, float* out) {
  float x[8];
  for (int j = 0; j < 8; ++j) x[j] = static_cast<float>(threadIdx.x + j);
#pragma unroll 1
  for (std::size_t i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 64; ++k) step(x[k % 8]);
  }
  float sum = 0;
  for (int j = 0; j < 8; ++j) sum += x[j];
  out[threadIdx.x] = sum;
}

__global__ void __launch_bounds__(512) mma(std::size_t trips, float4* out) {
  float4 c[8] = {};
  const unsigned bits = 0x3f803f80u;
#pragma unroll 1
  for (std::size_t i = 0; i < trips; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4& d = c[k % 8];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
          "{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
          : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
          : "r"(bits));
    }
  }
  for (int j = 0; j < 8; ++j) out[threadIdx.x] = c[j];
}

__global__ void shared_loads(std::size_t trips, std::uint32_t* out) {
  __shared__ std::uint32_t words[256 * 8];
  for (unsigned i = 0; i < 8; ++i) words[i * 256 + threadIdx.x] = threadIdx.x;
  __syncthreads();
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::size_t i = 0; i < trips; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      sum += *static_cast<volatile std::uint32_t*>(words + j * 256 + threadIdx.x);
    }
  }
  out[threadIdx.x] = sum;
}

__device__ __forceinline__ uint4 load(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

constexpr unsigned stream_threads = 512;
constexpr unsigned tile = 4 * stream_threads;  // vectors

__global__ void __launch_bounds__(512)
    stream_read(std::size_t vectors, std::size_t mask, const uint4* data) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::size_t t = blockIdx.x; t < vectors / tile; t += gridDim.x) {
    const uint4* from = data + (t & mask) * tile + threadIdx.x;
    uint4 v[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) v[j] = load(from + j * stream_threads);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) sum += v[j].x + v[j].y + v[j].z + v[j].w;
  }
  if (sum == 1) const_cast<uint4*>(data)->x = sum;
}

__global__ void __launch_bounds__(512) stream_copy(std::size_t vectors, uint4* data) {
#pragma unroll 1
  for (std::size_t t = blockIdx.x; t < vectors / tile; t += gridDim.x) {
    uint4* from = data + t * tile + threadIdx.x;
    uint4 v[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) v[j] = load(from + j * stream_threads);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) from[vectors + j * stream_threads] = v[j];
  }
}

// Sectors of 32 B; n is a multiple of 16 for each warp.
__global__ void __launch_bounds__(512) sector_read(std::size_t n, const char* data, unsigned* out) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::size_t i = 16 * (blockIdx.x * 16 + threadIdx.x / 32); i < n; i += gridDim.x * 256) {
    const char* from = data + (i & 8191) * 32;
    std::uint32_t v[16];
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[j]) : "l"(from + j * 32) : "memory");
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) sum += v[j];
  }
  if (sum == 1) *out = sum;
}

__global__ void __launch_bounds__(512) stream_write(std::size_t vectors, uint4* data) {
#pragma unroll 1
  for (std::size_t t = blockIdx.x; t < vectors / tile; t += gridDim.x) {
    uint4* to = data + t * tile + threadIdx.x;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) to[j * stream_threads] = uint4{j, threadIdx.x, 2, 3};
  }
}

__global__ void atomics(std::size_t trips, std::uint32_t* out) {
#pragma unroll 1
  for (std::size_t i = 0; i < trips; ++i) atomicAdd(out, 1u);
}

}  // namespace

void run_pattern(Pattern pattern, int blocks, std::size_t n, void* data, cudaStream_t stream) {
  switch (pattern) {
    case Pattern::spin:
      return spin<<<1, 1, 0, stream>>>(n, static_cast<std::uint64_t*>(data));
    case Pattern::chase:
      return chase<<<1, 1, 0, stream>>>(static_cast<const char*>(data), n,
                                        static_cast<const char**>(data));
    case Pattern::fma_chain:
      return fma_chain<<<1, 32, 0, stream>>>(n, static_cast<float*>(data));
    case Pattern::fma:
      return fma<<<blocks, 1024, 0, stream>>>(n, static_cast<float*>(data));
    case Pattern::mma:
      return mma<<<blocks, 512, 0, stream>>>(n, static_cast<float4*>(data));
    case Pattern::shared:
      return shared_loads<<<blocks, 256, 0, stream>>>(n, static_cast<std::uint32_t*>(data));
    case Pattern::stream_read:
      return stream_read<<<blocks, 512, 0, stream>>>(n / 16, ~std::size_t{0},
                                                     static_cast<const uint4*>(data));
    case Pattern::sector_read:
      return sector_read<<<blocks, 512, 0, stream>>>(n, static_cast<const char*>(data),
                                                     static_cast<unsigned*>(data));
    case Pattern::cached_read:
      return stream_read<<<blocks, 512, 0, stream>>>(n / 16, 7, static_cast<const uint4*>(data));
    case Pattern::stream_write:
      return stream_write<<<blocks, 512, 0, stream>>>(n / 16, static_cast<uint4*>(data));
    case Pattern::stream_copy:
      return stream_copy<<<blocks, 512, 0, stream>>>(n / 16, static_cast<uint4*>(data));
    case Pattern::atomics:
      return atomics<<<blocks, 256, 0, stream>>>(n, static_cast<std::uint32_t*>(data));
  }
}
