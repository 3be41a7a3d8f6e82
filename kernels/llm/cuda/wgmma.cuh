// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace warpmeter {

// Products of a warpgroup by wgmma m64n128, both operands in shared memory, f32 sums (PTX ISA 9.0,
// "Asynchronous Warpgroup Level Matrix Instructions"). Needs sm_90a. Of lane 4 g + t of warp w
// (mod 4), sums[4 j], [4 j + 1] are row 16 w + g at columns 8 j + 2 t, + 1, and sums[4 j + 2],
// [4 j + 3] row 16 w + g + 8 there.
using WarpgroupSums = float[64];

// What describes 32 bytes along k of a tile of rows of 128 bytes, swizzled over 128 bytes as tensor
// copies leave it at a multiple of 1024: eight rows are 1024 bytes apart from the next eight.
// The next 32 bytes begin 32 bytes further.
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t address) {
  return (address >> 4 & 0x3fff) | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

// Before the first product, and after other accesses to the sums.
__device__ __forceinline__ void fence_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most `pending` of the newest groups are under way.
template <int pending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// After wait_products<0>: no use of the sums moves before it.
__device__ __forceinline__ void hold(WarpgroupSums& sums) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// d = a b, plus d if `keep`; a 64 rows, b 128 rows of 32 bytes along k.
template <typename T>
__device__ __forceinline__ void multiply_async(WarpgroupSums& d, std::uint64_t a, std::uint64_t b,
                                               int keep);

#define WARPMETER_WGMMA(instruction, end)                                                          \
  asm volatile(                                                                                    \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned." instruction        \
      " {"                                                                                         \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18,"       \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35,"       \
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52,"       \
      "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"                                      \
      "}, %64, %65, p, 1, 1" end ";\n}"                                                            \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),        \
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),    \
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), \
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), \
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), \
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), \
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), \
        "+f"(d[63])                                                                                \
      : "l"(a), "l"(b), "r"(keep))

template <>
__device__ __forceinline__ void multiply_async<__nv_bfloat16>(WarpgroupSums& d, std::uint64_t a,
                                                              std::uint64_t b, int keep) {
  WARPMETER_WGMMA("m64n128k16.f32.bf16.bf16", ", 0, 0");
}
template <>
__device__ __forceinline__ void multiply_async<__half>(WarpgroupSums& d, std::uint64_t a,
                                                       std::uint64_t b, int keep) {
  WARPMETER_WGMMA("m64n128k16.f32.f16.f16", ", 0, 0");
}
template <>
__device__ __forceinline__ void multiply_async<__nv_fp8_e4m3>(WarpgroupSums& d, std::uint64_t a,
                                                              std::uint64_t b, int keep) {
  WARPMETER_WGMMA("m64n128k32.f32.e4m3.e4m3", "");
}

#undef WARPMETER_WGMMA

}  // namespace warpmeter
