// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>

// Kernels that time one thing each with the clock of the SM; all write cycles to device memory.

enum class TimedOp : std::uint8_t { alu, imad, fp32, fp64, special_function, convert };
// One warp, `steps` instructions (a multiple of 512): in one chain, or in 8.
void run_op_chain(TimedOp op, int steps, std::uint64_t* cycles);
void run_op_chains(TimedOp op, int steps, std::uint64_t* cycles);

// One warp whose lane l loads the shared word l * `stride`, `hops` times (a multiple of 128), each
// load for the address of the next.
void run_conflicts(int stride, int hops, std::uint64_t* cycles);

// On SM `sm`: cycles of a load of each of `count` lines `stride` bytes apart that L2 holds, beyond
// those of the same instructions without a load. `claim` is a zeroed word.
void run_line_latencies(int sm, int blocks, const char* lines, int count, std::size_t stride,
                        std::uint32_t* cycles, std::uint32_t* claim);
