// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/kernels.h"

namespace {

template <int which>
__global__ void mma(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                    std::uint32_t* d) {
  a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x, d += 4 * threadIdx.x;
  std::uint32_t r[4] = {c[0], c[1], c[2], c[3]};
#define FOUR(type)                                                            \
  asm(type " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])                        \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (which == mma_bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(reinterpret_cast<float&>(r[0])), "+f"(reinterpret_cast<float&>(r[1])),
          "+f"(reinterpret_cast<float&>(r[2])), "+f"(reinterpret_cast<float&>(r[3]))
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (which == mma_f16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(reinterpret_cast<float&>(r[0])), "+f"(reinterpret_cast<float&>(r[1])),
          "+f"(reinterpret_cast<float&>(r[2])), "+f"(reinterpret_cast<float&>(r[3]))
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (which == mma_tf32)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(reinterpret_cast<float&>(r[0])), "+f"(reinterpret_cast<float&>(r[1])),
          "+f"(reinterpret_cast<float&>(r[2])), "+f"(reinterpret_cast<float&>(r[3]))
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (which == mma_s8) FOUR("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
  if constexpr (which == mma_f16_f16)
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(r[0]), "+r"(r[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (which == mma_f16_k8)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, "
        "%1, %2, %3};"
        : "+f"(reinterpret_cast<float&>(r[0])), "+f"(reinterpret_cast<float&>(r[1])),
          "+f"(reinterpret_cast<float&>(r[2])), "+f"(reinterpret_cast<float&>(r[3]))
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  for (int i = 0; i < 4; ++i) d[i] = r[i];
}

template <bool transposed>
__global__ void ldmatrix(const std::uint16_t* rows, std::uint32_t* d) {
  __shared__ __align__(16) std::uint16_t tile[32 * 8];
  for (int i = 0; i < 8; ++i) tile[threadIdx.x * 8 + i] = rows[threadIdx.x * 8 + i];
  __syncwarp();
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile + 8 * threadIdx.x));
  std::uint32_t r[4];
  if constexpr (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  }
  for (int i = 0; i < 4; ++i) d[4 * threadIdx.x + i] = r[i];
}

__device__ __forceinline__ std::uint64_t clock64_now() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// The store of the last result must issue before the clock is read again.
template <int way>
__global__ void chase(const char* at, int hops, std::uint64_t* cycles) {
  __shared__ volatile std::uint32_t sink;
  for (int pass = 0; pass < 2; ++pass) {
    sink = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(at));
    const std::uint64_t begin = clock64_now();
#pragma unroll 1
    for (int i = 0; i < hops; i += 16) {
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        if constexpr (way == chase_ca)
          asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
        else
          asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
      }
    }
    sink = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(at));
    cycles[pass] = clock64_now() - begin;
  }
}

__global__ void shared_chase(int hops, std::uint64_t* cycles) {
  __shared__ std::uint32_t next[64];
  __shared__ volatile std::uint32_t sink;
  const std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(next));
  for (std::uint32_t i = 0; i < 64; ++i) next[i] = base + 4 * ((i + 17) % 64);
  std::uint32_t at = base;
  sink = at;
  const std::uint64_t begin = clock64_now();
#pragma unroll 1
  for (int i = 0; i < hops; i += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  }
  sink = at;
  cycles[0] = clock64_now() - begin;
}

__global__ void fma_chain(int steps, std::uint64_t* cycles, float* out) {
  __shared__ volatile float sink;
  float x = out[0];
  sink = x;
  const std::uint64_t begin = clock64_now();
#pragma unroll 1
  for (int i = 0; i < steps; i += 64) {
#pragma unroll
    for (int j = 0; j < 64; ++j) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(0.5f));
  }
  sink = x;
  cycles[0] = clock64_now() - begin;
  out[0] = x;
}

}  // namespace

void run_mma(int which, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
             std::uint32_t* d) {
  if (which == mma_bf16) mma<mma_bf16><<<1, 32>>>(a, b, c, d);
  if (which == mma_f16) mma<mma_f16><<<1, 32>>>(a, b, c, d);
  if (which == mma_tf32) mma<mma_tf32><<<1, 32>>>(a, b, c, d);
  if (which == mma_s8) mma<mma_s8><<<1, 32>>>(a, b, c, d);
  if (which == mma_f16_f16) mma<mma_f16_f16><<<1, 32>>>(a, b, c, d);
  if (which == mma_f16_k8) mma<mma_f16_k8><<<1, 32>>>(a, b, c, d);
}
void run_ldmatrix(const std::uint16_t* rows, std::uint32_t* d, int mode) {
  if (mode == 0)
    ldmatrix<false><<<1, 32>>>(rows, d);
  else
    ldmatrix<true><<<1, 32>>>(rows, d);
}
void run_chase(int way, const void* start, int hops, std::uint64_t* cycles) {
  if (way == chase_ca)
    chase<chase_ca><<<1, 1>>>(static_cast<const char*>(start), hops, cycles);
  else
    chase<chase_cg><<<1, 1>>>(static_cast<const char*>(start), hops, cycles);
}
void run_shared_chase(int hops, std::uint64_t* cycles) { shared_chase<<<1, 1>>>(hops, cycles); }
void run_fma_chain(int steps, std::uint64_t* cycles, float* out) {
  fma_chain<<<1, 1>>>(steps, cycles, out);
}
