// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

#include "core/work.h"
#include "kernels/llm/operand.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// The keys and values of new tokens go to a paged cache (Kwon et al., arXiv:2309.06180). qkv holds
// packed rows [tokens, (H + 2 G) d], a stride apart; token t has slots[t] = page * page_size +
// offset, or is skipped if that is negative. K and V are each [pages, kv_heads, page_size,
// head_size], of qkv's type (bits are copied), or e4m3: value / scale, saturating, with an f32
// scale for K and one for V. Only the CUDA kernel exists.
//
// Work, T tokens not skipped, c bytes per element of the cache:
//   ops[f32] = 2 T G d for e4m3 (a division each), else none
//   bytes_read = 2 T G d e + 4 T (slots), for e4m3 + 8 (scales)    bytes_written = 2 T G d c
//   working_set = both    launches = 1
//
// Checked: everything to the bit, and that no other slot was written.
Work kv_append_work(const KvAppendShape& shape);

// Pages of the cache that fill_slots uses: twice as many as the tokens need, a power of two.
std::int64_t kv_pages(const KvAppendShape& shape);

// Slots of `sequences` sequences with equally many consecutive tokens each; the pages of a sequence
// lie apart from each other.
void fill_slots(const KvAppendShape& shape, std::uint32_t seed, const Operand& slots);

struct KvAppendOperands {
  const Operand &qkv, &slots, &scales, &k_cache, &v_cache;
};

// Throws std::runtime_error("corrupt: ...") unless both caches, poisoned before, are right.
void check_kv_append(const KvAppendShape& shape, const KvAppendOperands& operands);

}  // namespace warpmeter
