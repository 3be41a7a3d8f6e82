// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cstring>

#include "emulator/decode/atomic_ops.h"
#include "emulator/decode/bulk.h"

namespace emulator {
namespace {

using namespace std::string_view_literals;
using atomics::U16;
using atomics::U32;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

template <typename F, typename T>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T old;
    T value;
    std::memcpy(&old, to + at, sizeof old);
    std::memcpy(&value, from + at, sizeof value);
    value = F::of(old, value, T{});
    std::memcpy(to + at, &value, sizeof value);
  }
}

// The lesser and the greater of 16-bit floats; a NaN loses.
template <float (*to_float)(U16), bool greater>
struct Extreme {
  static U16 of(U16 old, U16 b, U16) {
    const float x = to_float(old);
    const float y = to_float(b);
    if (std::isnan(x)) return b;
    return std::isnan(y) || (greater ? x >= y : x <= y) ? old : b;
  }
};

struct Row {
  std::string_view op;
  std::string_view type;
  BulkReduction run;
};
constexpr Row rows[] = {
    {"add", "u32", reduce<atomics::Add, U32>},
    {"add", "s32", reduce<atomics::Add, U32>},
    {"add", "u64", reduce<atomics::Add, U64>},
    {"add", "s64", reduce<atomics::Add, U64>},
    {"add", "f16", reduce<atomics::AddF16, U16>},
    {"add", "bf16", reduce<atomics::AddBf16, U16>},
    {"add", "f32", reduce<atomics::Add, float>},
    {"add", "f64", reduce<atomics::Add, double>},
    {"min", "u32", reduce<atomics::Min, U32>},
    {"min", "s32", reduce<atomics::Min, I32>},
    {"min", "u64", reduce<atomics::Min, U64>},
    {"min", "s64", reduce<atomics::Min, I64>},
    {"min", "f16", reduce<Extreme<f16_to_float, false>, U16>},
    {"min", "bf16", reduce<Extreme<bf16_to_float, false>, U16>},
    {"max", "u32", reduce<atomics::Max, U32>},
    {"max", "s32", reduce<atomics::Max, I32>},
    {"max", "u64", reduce<atomics::Max, U64>},
    {"max", "s64", reduce<atomics::Max, I64>},
    {"max", "f16", reduce<Extreme<f16_to_float, true>, U16>},
    {"max", "bf16", reduce<Extreme<bf16_to_float, true>, U16>},
    {"inc", "u32", reduce<atomics::Inc, U32>},
    {"dec", "u32", reduce<atomics::Dec, U32>},
    {"and", "b32", reduce<atomics::And, U32>},
    {"or", "b32", reduce<atomics::Or, U32>},
    {"xor", "b32", reduce<atomics::Xor, U32>},
    {"and", "b64", reduce<atomics::And, U64>},
    {"or", "b64", reduce<atomics::Or, U64>},
    {"xor", "b64", reduce<atomics::Xor, U64>},
};

}  // namespace

BulkReduction bulk_reduction(std::string_view op, std::string_view type) {
  for (const Row& row : rows) {
    if (row.op == op && row.type == type) return row.run;
  }
  return nullptr;
}

}  // namespace emulator
