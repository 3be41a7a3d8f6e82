// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// One token per row of logits [rows, vocabulary] (f32, not NaN, at least one finite). Tokens are
// ordered by falling logits, equal ones by rising ids. Kept are the first top_k (0: all), and of
// these the fewest first ones whose probabilities softmax(logits / temperature), normalised over
// the top_k, reach top_p (Holtzman et al., arXiv:1904.09751). The result is the first kept token,
// by id, at which the sum of the kept probabilities exceeds uniform [row], in [0, 1), times their
// total. Only the CUDA kernel exists.
//
// Work, R rows, vocabulary V: per token a maximum, a multiply-add before the exponential, a sum.
// Selection is comparisons, not counted.
//   ops[f32] = 4 R V    exp = R V
//   bytes_read = 4 R V + 4 R (uniform)    bytes_written = 4 R    working_set = both    launches = 1
//
// Checked: at most 16 rows, from sorted logits in double. With a = log2(weight), a weight of the
// kernel has a relative error of at most 2 2^-24 |a| ln 2 (factor, multiply-add) + 2^-22 (ex2), and
// loses at most 2^-40 of the largest one. A sum of weights, over their total, is therefore off by
// at most
//   t = 2 (sum w (2^-23 |a| ln 2 + 2^-22) + V 2^-40) / sum w + 2^-32 (the uniform number)
// and a token is right if some cut within t of top_p, and a uniform number within t of the given
// one, choose it.
Work sample_work(const SampleShape& shape);

// Numbers in [0, 1), multiples of 2^-24.
void fill_uniform(const Operand& operand, std::uint32_t seed);

struct SampleOperands {
  const Operand &logits, &uniforms, &tokens;
};

// Throws std::runtime_error("corrupt: ...") unless `rows` are right and all tokens exist.
void check_sample(const SampleShape& shape, std::span<const std::int64_t> rows,
                  const SampleOperands& operands);

}  // namespace warpmeter
