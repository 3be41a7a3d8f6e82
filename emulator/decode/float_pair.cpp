// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// add sub mul fma of f32x2: two floats in a 64-bit register.
#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"
#include "emulator/decode/rounding.h"

namespace emulator {
namespace {

using U64 = std::uint64_t;

struct Add {
  static float of(float a, float b, float) { return a + b; }
};
struct Sub {
  static float of(float a, float b, float) { return a - b; }
};
struct Mul {
  static float of(float a, float b, float) { return a * b; }
};
struct Fma {
  static float of(float a, float b, float c) { return std::fma(a, b, c); }
};

template <typename F>
void pairs(Warp& w, const Instr& i, std::uint32_t mask) {
  const RoundingScope scope(i.mode);
  const bool flushes = (i.mode & mode_flush) != 0;
  for_lanes(mask, [&](int l) {
    U64 result = 0;
    for (const int shift : {0, 32}) {
      const auto load = [&](std::int32_t slot) {
        const U64 bits = slot == -1 ? 0 : lane_of<U64>(w, slot, l);
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> shift));
        return flushes ? flush(x) : x;
      };
      const float r = quiet(F::of(load(i.a), load(i.b), load(i.c)));
      result |= U64{std::bit_cast<std::uint32_t>(flushes ? flush(r) : r)} << shift;
    }
    lane_of<U64>(w, i.dst, l) = result;
  });
}

}  // namespace

void decode_float_pair(Builder& b) {
  const std::string_view base = b.in.base();
  Instr& out = b.out;
  out.op_class = OpClass::fp32;
  out.mode = rounding_mode(b.in);
  b.standard(b.in.type());
  if (base == "add") out.run = pairs<Add>;
  if (base == "sub") out.run = pairs<Sub>;
  if (base == "mul") out.run = pairs<Mul>;
  if (base == "fma") out.run = pairs<Fma>;
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
