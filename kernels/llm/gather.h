// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>

#include "core/work.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// y[r] = table[ids[r]]: the embeddings of `rows` tokens from a table [vocabulary, columns]. A loop
// of ours (oneDNN has no gather): rows shared by the OpenMP team, each one copied (memcpy). Ids are
// different, random and spread over the whole table; only the rows that are read are backed by
// memory (huge pages), so translation costs little.
//
// Work, R rows of C columns: no operations
//   bytes_read = R C e + 4 R (ids)    bytes_written = R C e    working_set = both    launches = 1
//
// Checked: every element exactly, each row against values generated anew from its id.
Work gather_work(const GatherShape& shape);

// Operands: "ids" [rows], "table", "y" [rows, columns].
std::unique_ptr<Kernel> make_gather(const GatherShape& shape, std::uint32_t seed);

// Fills `ids` with different random ids, and the rows of `table` that they choose.
void fill_gather(const GatherShape& shape, std::uint32_t seed, const Operand& ids,
                 const Operand& table);
// Throws std::runtime_error("corrupt: ...") unless y is right; `seed` is that of fill_gather.
void check_gather(const GatherShape& shape, std::uint32_t seed, const Operand& ids,
                  const Operand& y);

}  // namespace warpmeter
