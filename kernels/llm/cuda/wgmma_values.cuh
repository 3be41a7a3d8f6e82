// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "kernels/llm/cuda/wgmma.cuh"

namespace warpmeter {

// The second product of attention by wgmma m64nNk16: weights in registers, values as they lie in
// memory, the 16 positions as rows (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix
// Instructions"). Needs sm_90a.

// What describes 16 rows of 64 columns (128 bytes), or of several such tiles `tile_bytes` apart,
// each swizzled over 128 bytes at a multiple of 1024, as the operand whose columns are contiguous
// ("MN-major"): the leading offset leads to the next 64 columns, the stride to the next 8 rows. The
// next 16 rows begin 2048 bytes further.
__device__ __forceinline__ std::uint64_t column_descriptor(std::uint32_t address, int tile_bytes) {
  return matrix_descriptor(address) | std::uint64_t(tile_bytes >> 4) << 16;
}

// d += a b: of lane 4 g + t of warp w, a is row 16 w + g at columns 2 t, + 1 (x) and + 8, + 9 (z),
// row + 8 there (y, w); d as WarpgroupSums, of count / 32 x 64 columns.
template <typename T, int count>
__device__ __forceinline__ void add_weighted_async(float (&d)[count], const uint4& a,
                                                   std::uint64_t b);

#define WARPMETER_WEIGHTS_64(type)                                                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                      \
               " {"                                                                             \
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "         \
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31" \
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                                      \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),        \
                 "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),      \
                 "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),  \
                 "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),  \
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),  \
                 "+f"(d[30]), "+f"(d[31])                                                       \
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b))

#define WARPMETER_WEIGHTS_128(type)                                                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                       \
               " {"                                                                               \
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
               "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"   \
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"                                        \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),          \
                 "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),        \
                 "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),    \
                 "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),    \
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),    \
                 "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),    \
                 "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),    \
                 "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),    \
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),    \
                 "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),    \
                 "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])                               \
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b))

template <>
__device__ __forceinline__ void add_weighted_async<__nv_bfloat16, 32>(float (&d)[32],
                                                                      const uint4& a,
                                                                      std::uint64_t b) {
  WARPMETER_WEIGHTS_64("bf16");
}
template <>
__device__ __forceinline__ void add_weighted_async<__nv_bfloat16, 64>(float (&d)[64],
                                                                      const uint4& a,
                                                                      std::uint64_t b) {
  WARPMETER_WEIGHTS_128("bf16");
}
template <>
__device__ __forceinline__ void add_weighted_async<__half, 32>(float (&d)[32], const uint4& a,
                                                               std::uint64_t b) {
  WARPMETER_WEIGHTS_64("f16");
}
template <>
__device__ __forceinline__ void add_weighted_async<__half, 64>(float (&d)[64], const uint4& a,
                                                               std::uint64_t b) {
  WARPMETER_WEIGHTS_128("f16");
}

#undef WARPMETER_WEIGHTS_64
#undef WARPMETER_WEIGHTS_128

// After wait_products<0>: no use of the sums moves before it.
template <int count>
__device__ __forceinline__ void hold_sums(float (&sums)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

}  // namespace warpmeter
