// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// Vectors of `count` elements, one of each rank.
struct AllReduceShape {
  std::int64_t count = 0;
  int ranks = 0;
  Element type = Element::f32;
};

// y_r[i] = sum over ranks s of x_s[i], on every rank r: added in the order of ranks in f32, so that
// all ranks get the same bits. Only the CUDA kernel exists.
//
// Work of one rank (all work at the same time), n ranks, S = count e bytes:
//   ops[f32] = (n - 1) count    link_bytes = (n - 1) S (the others' vectors)
//   bytes_read = S (its own, from its memory, for itself and all others)    bytes_written = S
//   working_set = 2 S    launches = 1
//
// Checked: all elements of all ranks, within sum_roundoff(n) sum|x| (+ 2^-8 |y| for bf16), and that
// all ranks have the same bits.
Work all_reduce_work(const AllReduceShape& shape);

// nccl-tests' bus bandwidth in B/s (its doc/PERFORMANCE.md): 2 (n - 1) / n S over the time. A ring
// that uses its links fully reaches their rate by this measure whatever n; one shot of n > 2 ranks
// moves more than a ring and stays below.
double all_reduce_bus_bandwidth(const AllReduceShape& shape, double seconds);

// Throws std::runtime_error("corrupt: ...") unless the ranks' y are the sum of their x.
// `roundings`: how many partial sums of an element may have been rounded to the type; 1: the result
// alone.
void check_all_reduce(const AllReduceShape& shape, std::span<const Operand* const> x,
                      std::span<const Operand* const> y, int roundings = 1);

}  // namespace warpmeter
