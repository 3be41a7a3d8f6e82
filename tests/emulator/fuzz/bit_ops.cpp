// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Bits, shifts and fields: the PTX ISA's pseudocode, bit by bit.
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

template <typename T>
constexpr U32 width = 8 * sizeof(T);

template <typename T>
void logic(std::vector<Op>& ops) {
  const std::string t = ".b" + std::to_string(width<T>);
  const auto add = [&](const std::string& name, auto f) {
    ops.push_back(with_immediates(name + t, f));
  };
  add("and", [](T a, T b) -> T { return static_cast<T>(a & b); });
  add("or", [](T a, T b) -> T { return static_cast<T>(a | b); });
  add("xor", [](T a, T b) -> T { return static_cast<T>(a ^ b); });
  add("not", [](T a) -> T { return static_cast<T>(~a); });
  add("cnot", [](T a) -> T { return a == 0; });
  add("shl", [](T a, U32 n) -> T {
    for (U32 i = 0; i < std::min(n, width<T>); ++i) a = static_cast<T>(a + a);
    return a;
  });
}

// Halving toward minus infinity, as often as asked but not beyond the width.
template <typename T>
void shift_right(std::vector<Op>& ops, const std::string& t) {
  ops.push_back(with_immediates("shr." + t, [](T a, U32 n) -> T {
    for (U32 i = 0; i < std::min(n, width<T>); ++i) {
      a = static_cast<T>((a - (a & 1)) / 2);
    }
    return a;
  }));
}

template <typename T>
bool bit(T a, U32 n) {
  return (static_cast<U64>(a) >> n & 1) != 0;
}

template <typename T>
void fields(std::vector<Op>& ops, const std::string& t) {
  static constexpr U32 msb = width<T> - 1;
  const auto find = [](T a) -> U32 {
    if (std::is_signed_v<T> && a < 0) a = static_cast<T>(~a);
    for (U32 i = msb + 1; i-- > 0;) {
      if (bit(a, i)) return i;
    }
    return ~U32{0};
  };
  ops.push_back(make_op("bfind." + t, [find](T a) -> U32 { return find(a); }));
  ops.push_back(make_op("bfind.shiftamt." + t, [find](T a) -> U32 {
    const U32 d = find(a);
    return d == ~U32{0} ? d : msb - d;
  }));
  ops.push_back(make_op("bfe." + t, [](T a, U32 b, U32 c) -> T {
    const U32 pos = b & 0xff, len = c & 0xff;
    const bool sign = std::is_signed_v<T> && len != 0 && bit(a, std::min(pos + len - 1, msb));
    U64 d = 0;
    for (U32 i = 0; i <= msb; ++i) {
      const bool one = i < len && pos + i <= msb ? bit(a, pos + i) : sign;
      d |= U64{one} << i;
    }
    return static_cast<T>(d);
  }));
}

template <typename T>
void unsigned_fields(std::vector<Op>& ops) {
  static constexpr U32 msb = width<T> - 1;
  const std::string t = ".b" + std::to_string(width<T>);
  ops.push_back(make_op("popc" + t, [](T a) -> U32 {
    U32 d = 0;
    for (U32 i = 0; i <= msb; ++i) d += bit(a, i);
    return d;
  }));
  ops.push_back(make_op("clz" + t, [](T a) -> U32 {
    U32 d = 0;
    while (d <= msb && !bit(a, msb - d)) ++d;
    return d;
  }));
  ops.push_back(make_op("brev" + t, [](T a) -> T {
    U64 d = 0;
    for (U32 i = 0; i <= msb; ++i) d |= U64{bit(a, i)} << (msb - i);
    return static_cast<T>(d);
  }));
  ops.push_back(make_op("bfi" + t, [](T a, T b, U32 c, U32 d) -> T {
    const U32 pos = c & 0xff, len = d & 0xff;
    U64 f = b;
    for (U32 i = 0; i < len && pos + i <= msb; ++i) {
      f &= ~(U64{1} << (pos + i));
      f |= U64{bit(a, i)} << (pos + i);
    }
    return static_cast<T>(f);
  }));
}

U32 byte_of(U32 a, U32 b, U32 n) { return (n < 4 ? a >> (8 * n) : b >> (8 * n - 32)) & 0xff; }

U32 gather(U32 a, U32 b, const U32 (&bytes)[4]) {  // most significant first
  U32 d = 0;
  for (const U32 n : bytes) d = d << 8 | byte_of(a, b, n);
  return d;
}

void add_permutes(std::vector<Op>& ops) {
  ops.push_back(with_immediates("prmt.b32", [](U32 a, U32 b, U32 c) -> U32 {
    U32 d = 0;
    for (U32 i = 4; i-- > 0;) {
      const U32 selector = c >> (4 * i) & 15;
      U32 byte = byte_of(a, b, selector & 7);
      if (selector & 8) byte = byte >= 128 ? 255 : 0;
      d = d << 8 | byte;
    }
    return d;
  }));
  // The manual's table, for selectors 0 to 3.
  struct Mode {
    const char* name;
    U32 rows[4][4];
  };
  static const Mode modes[] = {{"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
                               {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
                               {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                               {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
                               {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
                               {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}};
  for (const Mode& mode : modes) {
    ops.push_back(
        make_op(std::string("prmt.b32.") + mode.name,
                [&mode](U32 a, U32 b, U32 c) -> U32 { return gather(a, b, mode.rows[c & 3]); }));
  }
}

void add_funnels(std::vector<Op>& ops) {
  for (const bool wraps : {false, true}) {
    const std::string mode = wraps ? ".wrap.b32" : ".clamp.b32";
    const auto amount = [wraps](U32 c) { return wraps ? c & 31 : std::min(c, 32u); };
    ops.push_back(with_immediates("shf.l" + mode, [amount](U32 a, U32 b, U32 c) -> U32 {
      const U32 n = amount(c);
      return static_cast<U32>(U64{b} << n | U64{a} >> (32 - n));
    }));
    ops.push_back(with_immediates("shf.r" + mode, [amount](U32 a, U32 b, U32 c) -> U32 {
      const U32 n = amount(c);
      return static_cast<U32>(U64{b} << (32 - n) | U64{a} >> n);
    }));
  }
}

void add_lop3(std::vector<Op>& ops) {
  for (U32 table = 1; table < 256; table += 9) {
    Op op = make_op("lop3.b32", [table](U32 a, U32 b, U32 c) -> U32 {
      U32 d = 0;
      for (U32 i = 0; i < 32; ++i) {
        const U32 row = U32{bit(a, i)} * 4 + U32{bit(b, i)} * 2 + U32{bit(c, i)};
        d |= U32{bit(table, row)} << i;
      }
      return d;
    });
    op.text = "lop3.b32 $0, $1, $2, $3, " + std::to_string(table) + ";";
    op.immediates = true;
    ops.push_back(op);
  }
}

// mov between a register and the parts of it; predicates.
void add_moves(std::vector<Op>& ops) {
  Op op = make_op("", [](U16 a, U16 b) -> U32 { return U32{a} + U32{b} * 65536; });
  op.text = "mov.b32 $0, {$1, $2};";
  ops.push_back(op);
  op = make_op("", [](U32 a, U32 b) -> U64 { return U64{a} + (U64{b} << 32); });
  op.text = "mov.b64 $0, {$1, $2};";
  ops.push_back(op);
  op = {"mov.b32 {$0, $1}, $2;", "hh", "r", [](const Sources& in, Results& out, bool&) {
          out = {in[0] & 0xffff, in[0] >> 16 & 0xffff};
        }};
  ops.push_back(op);
  op = {"mov.b64 {$0, $1}, $2;", "rr", "d", [](const Sources& in, Results& out, bool&) {
          out = {in[0] & 0xffffffff, in[0] >> 32};
        }};
  ops.push_back(op);
  ops.push_back(with_immediates("mov.b16", [](U16 a) -> U16 { return a; }));
  ops.push_back(with_immediates("mov.b32", [](U32 a) -> U32 { return a; }));
  ops.push_back(with_immediates("mov.b64", [](U64 a) -> U64 { return a; }));
  ops.push_back(make_op("and.pred", [](bool a, bool b) -> bool { return a && b; }));
  ops.push_back(make_op("or.pred", [](bool a, bool b) -> bool { return a || b; }));
  ops.push_back(make_op("xor.pred", [](bool a, bool b) -> bool { return a != b; }));
  ops.push_back(make_op("not.pred", [](bool a) -> bool { return !a; }));
}

}  // namespace

void add_bit_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::bits)];
  logic<U16>(ops);
  logic<U32>(ops);
  logic<U64>(ops);
  shift_right<U16>(ops, "u16");
  shift_right<I16>(ops, "s16");
  shift_right<U32>(ops, "u32");
  shift_right<I32>(ops, "s32");
  shift_right<U64>(ops, "u64");
  shift_right<I64>(ops, "s64");
  fields<U32>(ops, "u32");
  fields<I32>(ops, "s32");
  fields<U64>(ops, "u64");
  fields<I64>(ops, "s64");
  unsigned_fields<U32>(ops);
  unsigned_fields<U64>(ops);
  add_permutes(ops);
  add_funnels(ops);
  add_lop3(ops);
  add_moves(ops);
}

}  // namespace fuzz
