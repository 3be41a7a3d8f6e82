// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/kv_append.h"

#include <fmt/format.h>

#include <bit>
#include <set>
#include <stdexcept>

namespace warpmeter {
namespace {

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t tokens_per_sequence(const KvAppendShape& shape) {
  return up(shape.tokens, shape.sequences);
}

// A sequence may begin anywhere in its first page.
std::int64_t pages_per_sequence(const KvAppendShape& shape) {
  return up(tokens_per_sequence(shape) + shape.page_size - 1, shape.page_size);
}

unsigned bits(const Operand& operand, std::int64_t at) {
  return bytes_of(operand.type) == 1 ? operand.u8()[at] : operand.bf16()[at];
}

// One line of head_size elements of a cache; `from` is its first element in qkv, or -1 if nothing
// was to be written.
void check_line(const KvAppendShape& shape, const Operand& qkv, float scale, const Operand& cache,
                std::int64_t line, std::int64_t from) {
  for (std::int64_t i = 0; i < shape.head_size; ++i) {
    const std::int64_t at = line * shape.head_size + i;
    unsigned expected = shape.cache == Element::e4m3 ? 0xffu : 0xffffu;
    if (from >= 0 && shape.cache == Element::e4m3)
      expected = float_to_e4m3(static_cast<float>(qkv.at(from + i)) / scale);
    else if (from >= 0)
      expected = qkv.bf16()[from + i];
    if (bits(cache, at) == expected) continue;
    throw std::runtime_error(
        fmt::format("corrupt: kv_append: element {} of {} is {:#x}, expected {:#x}", at, cache.name,
                    bits(cache, at), expected));
  }
}

}  // namespace

Work kv_append_work(const KvAppendShape& shape) {
  const auto tokens = static_cast<double>(shape.tokens);
  const double elements = 2 * tokens * static_cast<double>(shape.kv_heads * shape.head_size);
  Work work;
  work.bytes_read = elements * static_cast<double>(bytes_of(shape.type)) + 4 * tokens;
  work.bytes_written = elements * static_cast<double>(bytes_of(shape.cache));
  if (shape.cache == Element::e4m3) {
    work.ops["f32"] = elements;
    work.bytes_read += 8;
  }
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::int64_t kv_pages(const KvAppendShape& shape) {
  const auto needed = static_cast<std::uint64_t>(shape.sequences * pages_per_sequence(shape));
  return static_cast<std::int64_t>(2 * std::bit_ceil(needed));
}

void fill_slots(const KvAppendShape& shape, std::uint32_t seed, const Operand& slots) {
  const std::int64_t per_sequence = tokens_per_sequence(shape), pages = kv_pages(shape);
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    const std::int64_t sequence = t / per_sequence;
    const std::int64_t position = t % per_sequence + (sequence + seed) % shape.page_size;
    const std::int64_t page = sequence * pages_per_sequence(shape) + position / shape.page_size;
    // An odd factor permutes a power of two.
    const std::int64_t place = (page * 37 + seed) % pages;
    slots.i32()[t] =
        static_cast<std::int32_t>(place * shape.page_size + position % shape.page_size);
  }
}

void check_kv_append(const KvAppendShape& shape, const KvAppendOperands& operands) {
  std::vector<std::int64_t> token_of(static_cast<std::size_t>(kv_pages(shape) * shape.page_size),
                                     -1);
  for (std::int64_t t = 0; t < shape.tokens; ++t)
    if (const std::int32_t slot = operands.slots.i32()[t]; slot >= 0)
      token_of[static_cast<std::size_t>(slot)] = t;
  const std::int64_t lines = operands.k_cache.count / shape.head_size;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t page = line / shape.page_size / shape.kv_heads;
    const std::int64_t head = line / shape.page_size % shape.kv_heads;
    const std::int64_t slot = page * shape.page_size + line % shape.page_size;
    const std::int64_t token = token_of[static_cast<std::size_t>(slot)];
    const std::int64_t row = token * token_stride(shape);
    const std::int64_t k = token < 0 ? -1 : row + (shape.heads + head) * shape.head_size;
    const std::int64_t v = token < 0 ? -1 : k + shape.kv_heads * shape.head_size;
    check_line(shape, operands.qkv, operands.scales.f32()[0], operands.k_cache, line, k);
    check_line(shape, operands.qkv, operands.scales.f32()[1], operands.v_cache, line, v);
  }
}

}  // namespace warpmeter
