// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

// Each uses `bytes` of shared memory, filled from or copied to managed memory as a whole; the box
// lies at `at` in it.
struct TensorCopy {
  CUtensorMap map;
  int rank;
  int coordinates[5];
  unsigned at;
  unsigned bytes;      // of shared memory
  unsigned box_bytes;  // that the mbarrier expects
};
void run_tensor_load(const TensorCopy& copy, const unsigned char* before, unsigned char* after);
// The map lies in global memory.
void run_tensor_load_from_memory(const TensorCopy* copy, unsigned bytes, unsigned char* after);
void run_tensor_store(const TensorCopy& copy, const unsigned char* shared);
void run_tensor_add(const TensorCopy& copy, const unsigned char* shared);
void run_tensor_prefetch(const TensorCopy& copy);
// Two blocks; the first loads for both, `after` gets the shared memory of the second.
void run_tensor_multicast(const TensorCopy& copy, unsigned char* after);
// out[i] += in[i] (64 words) by a bulk reduction, then the same into the next block's shared
// memory: out[64 + i] = 7 i + in[i].
void run_bulk_add(const std::uint32_t* in, std::uint32_t* out);
// Cycles until all of `copies` loads issued together have come: the first time, and again.
void run_tensor_cycles(const TensorCopy& copy, int copies, std::uint64_t* cycles);
// out[64][8]: product of 64 x 64 halves (a; in memory k x m if a_transposed) and 64 x 8 (b, in
// memory 8 x 64); both maps take the whole with a swizzle of 128 B.
void run_tensor_product(const CUtensorMap& a, const CUtensorMap& b, int a_transposed, float* out);
