// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Launches of the kernels that the tests run. Pointers are managed memory.
void run_integers(const std::uint64_t* in, std::uint64_t* out, int n);
void run_floats(const float* in, float* out, int n);
void run_conversions(const std::uint32_t* in, std::uint32_t* out, int n, int mode);
void run_pairs(const std::uint32_t* in, std::uint32_t* out, int n, int mode);

// Control flow; out has one word per thread of one block.
void run_control(int which, std::uint32_t* out, int blocks, int threads);
constexpr int control_nested = 0, control_trips = 1, control_lane_lock = 2, control_producer = 3,
              control_grid_barrier = 4, control_switch = 5, control_call = 6, control_exit = 7,
              control_shuffle = 8, control_votes = 9, control_match = 10, control_barrier_red = 11,
              control_async = 12, control_printf = 13, control_named = 14, control_atomics = 15;
const void* control_kernel(int which);

// Errors.
void run_fault(int which, std::uint32_t* data);
constexpr int fault_bounds = 0, fault_misaligned = 1, fault_shared = 2, fault_trap = 3,
              fault_assert = 4, fault_forever = 5, fault_barrier = 6, fault_none = 7,
              fault_unsupported = 8;

// Spins until *flag is not 0, then adds 1 to *out.
void run_spin(const volatile std::uint32_t* flag, std::uint32_t* out, cudaStream_t stream);
void run_add(std::uint32_t* out, std::uint32_t value, cudaStream_t stream);

// Products of one warp; a, b, c, d as registers of the fragments, lane by lane.
void run_mma(int which, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
             std::uint32_t* d);
constexpr int mma_bf16 = 0, mma_f16 = 1, mma_tf32 = 2, mma_s8 = 3, mma_f16_f16 = 4, mma_f16_k8 = 5;
// d gets four registers per lane of ldmatrix.x4 (transposed for mode 1) of 32 rows of 16 B.
void run_ldmatrix(const std::uint16_t* rows, std::uint32_t* d, int mode);

// Cycles per hop, times 64 hops, of a chase along `next` in the given way.
void run_chase(int way, const void* start, int hops, std::uint64_t* cycles);
constexpr int chase_ca = 0, chase_cg = 1;
void run_shared_chase(int hops, std::uint64_t* cycles);
void run_fma_chain(int steps, std::uint64_t* cycles, float* out);
