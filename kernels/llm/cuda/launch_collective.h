// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "kernels/llm/all_reduce.h"

namespace warpmeter {

inline constexpr int most_ranks = 8;
inline constexpr int most_collective_blocks = 32;

// How often the blocks of a rank have met those of the others: [rank, block] what each other rank
// has signalled, then [block] what this rank has reached; zeros before the first launch. u32 that
// only grow, and may wrap.
inline constexpr std::int64_t signal_count = (most_ranks + 1) * most_collective_blocks;

// One rank's part of an all-reduce, on the current device: x and signals of all ranks, in order, as
// this device addresses them; y [count] of this one; f32 or bf16. Returns when queued; the kernel
// ends when all ranks' kernels have read x. All ranks must launch the same shapes in the same
// order, and all must be able to run at the same time. Traps after ten seconds without another
// rank.
void launch_all_reduce_one_shot(const AllReduceShape& shape, int rank,
                                std::span<const void* const> x, std::span<void* const> signals,
                                void* y, cudaStream_t stream);

// Loads the kernel on the current device: a kernel that waits for one that is yet to be loaded
// could wait for ever.
void load_all_reduce_one_shot(const AllReduceShape& shape);

}  // namespace warpmeter
