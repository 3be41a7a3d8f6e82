// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace warpmeter {

// Tiles in shared memory, and what moves them.

// Where piece `piece` (16 bytes) of row `row` of a tile with rows of 64 bytes stands, in elements
// T. Two rows share 128 bytes; pieces are exchanged so that the same piece of eight rows in a row
// touches all banks once, as ldmatrix reads it.
template <typename T>
__device__ __forceinline__ int swizzled(int row, int piece) {
  return (row * 4 + (piece ^ (row / 2 % 4))) * static_cast<int>(16 / sizeof(T));
}

// The same for 2-byte elements in a tile of `size` columns, 64 or more: eight rows, each at another
// place.
template <int size>
__device__ __forceinline__ int swizzled_row(int row, int piece) {
  return row * size + (piece ^ (row % 8)) * 8;
}

__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// 16 bytes from global to shared memory in the background, or zeros.
__device__ __forceinline__ void copy16_async(void* to, const void* from, int present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(present ? 16 : 0)
               : "memory");
}

// The same at once, element by element: the first `left` of 16 bytes (any number), then zeros.
template <typename T>
__device__ __forceinline__ void copy_single(T* to, const T* from, int left) {
#pragma unroll
  for (int i = 0; i < static_cast<int>(16 / sizeof(T)); ++i) to[i] = i < left ? from[i] : T();
}

// Copies since the last commit become one group; wait_copies waits until at most `pending` of the
// newest groups are under way.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8 x 8 matrices: lane i gives the address of row i % 8 of matrix i / 8, and gets elements
// 2 (i % 4), + 1 of row i / 4 of each.
__device__ __forceinline__ uint4 load_matrices(const void* row) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(shared_address(row))
               : "memory");
  return v;
}

// The same, each transposed: lane i gets rows 2 (i % 4), + 1 of column i / 4.
__device__ __forceinline__ uint4 load_transposed(const void* row) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(shared_address(row))
               : "memory");
  return v;
}

// An 8 x 8 matrix in registers, lane i with elements 2 (i % 4), + 1 of row i / 4, transposed.
__device__ __forceinline__ unsigned transposed(unsigned row) {
  unsigned column;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(column) : "r"(row));
  return column;
}

__device__ __forceinline__ void store_pair(__nv_bfloat16* at, float low, float high) {
  *reinterpret_cast<__nv_bfloat162*>(at) = __floats2bfloat162_rn(low, high);
}
__device__ __forceinline__ void store_pair(__half* at, float low, float high) {
  *reinterpret_cast<__half2*>(at) = __floats2half2_rn(low, high);
}

// The two as one register of a fragment.
template <typename T>
__device__ __forceinline__ unsigned packed(float low, float high) {
  alignas(4) T both[2];
  store_pair(both, low, high);
  return *reinterpret_cast<const unsigned*>(both);
}

}  // namespace warpmeter
