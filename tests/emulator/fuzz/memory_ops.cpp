// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Through local memory and through a called function. The kernel declares `scratch`, 16 B, and the
// module the function `helper`.
#include "tests/emulator/fuzz/ops.h"

namespace fuzz {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

Op several(const std::string& text, const std::string& results, const std::string& sources,
           const Evaluate& evaluate) {
  Op op{text, results, sources, evaluate};
  op.guardable = false;
  return op;
}

U64 words(U64 low, U64 high) { return (low & 0xffffffff) | high << 32; }

// A piece of two stored words, extended to 64 bits.
U64 piece(const Sources& in, int offset, int bits, bool sign) {
  U64 value = (offset < 8 ? in[0] : in[1]) >> (8 * (offset % 8));
  value <<= 64 - bits;
  return sign ? static_cast<U64>(static_cast<std::int64_t>(value) >> (64 - bits))
              : value >> (64 - bits);
}

void add_pieces(std::vector<Op>& ops) {
  for (const int bits : {8, 16, 32}) {
    for (const bool sign : {false, true}) {
      for (const int place : {0, 1, 2, 3}) {
        const int offset = place * 4 + (bits == 8 ? 3 : bits == 16 ? 2 : 0);
        const std::string type = (sign ? "s" : "u") + std::to_string(bits);
        const std::string result = place % 2 ? "d" : "r";
        ops.push_back(several("st.local.v2.b64 [scratch], {$1, $2}; ld.local." + type +
                                  " $0, [scratch+" + std::to_string(offset) + "];",
                              result, "dd", [=](const Sources& in, Results& out, bool&) {
                                out[0] = piece(in, offset, bits, sign);
                              }));
      }
    }
  }
}

void add_vectors(std::vector<Op>& ops) {
  const Evaluate whole = [](const Sources& in, Results& out, bool&) {
    out = {words(in[0], in[1]), words(in[2], in[3])};
  };
  ops.push_back(
      several("st.local.v4.b32 [scratch], {$2, $3, $4, $5}; ld.local.v2.b64 {$0, $1}, [scratch];",
              "dd", "rrrr", whole));
  // The same memory by its generic address.
  ops.push_back(
      several("mov.u64 %dt, scratch; cvta.local.u64 %dt, %dt; st.v4.u32 [%dt], {$2, $3, "
              "$4, $5}; ld.v2.u64 {$0, $1}, [%dt];",
              "dd", "rrrr", whole));
  ops.push_back(
      several("st.local.v4.b16 [scratch+8], {$1, $2, $3, $4}; ld.local.b64 $0, [scratch+8];", "d",
              "hhhh", [](const Sources& in, Results& out, bool&) {
                out[0] = in[0] | in[1] << 16 | in[2] << 32 | in[3] << 48;
              }));
}

}  // namespace

const char* helper_text() {
  return R"(.func (.param .b32 result) helper(.param .b32 a, .param .b64 b)
{
.reg .b32 %x, %y;
.reg .b64 %z;
.reg .pred %q;
ld.param.b32 %x, [a];
ld.param.b64 %z, [b];
setp.lt.s32 %q, %x, 0;
@%q bra negative;
shr.u64 %z, %z, 7;
cvt.u32.u64 %y, %z;
mad.lo.u32 %x, %x, 3, %y;
bra done;
negative:
cvt.u32.u64 %y, %z;
sub.u32 %x, %y, %x;
done:
st.param.b32 [result], %x;
ret;
}
)";
}

void add_memory_ops(Table& table) {
  auto& ops = table.ops[static_cast<std::size_t>(Family::bits)];
  add_pieces(ops);
  add_vectors(ops);
  ops.push_back(several(
      "{ .param .b32 a; .param .b64 b; .param .b32 r; st.param.b32 [a], $1; "
      "st.param.b64 [b], $2; call (r), helper, (a, b); ld.param.b32 $0, [r]; }",
      "r", "rd", [](const Sources& in, Results& out, bool&) {
        const auto a = static_cast<U32>(in[0]);
        out[0] = a >> 31 ? static_cast<U32>(in[1]) - a : a * 3 + static_cast<U32>(in[1] >> 7);
      }));
}

}  // namespace fuzz
