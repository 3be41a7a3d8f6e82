// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cvt: between all scalar types and to packed small formats.
#include "emulator/decode/convert_values.h"
#include "emulator/decode/decoder.h"
#include "emulator/decode/formats.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

U64 convert(U64 bits, const Conversion& c) {
  if (!is_real(c.from)) {
    const U64 value = load_integer(bits, c.from);
    // A register wider than the type holds the result extended as the type says.
    if (!is_real(c.to))
      return c.saturate ? clamp_integer(value, c.from, c.to) : load_integer(value, c.to);
    return store_real(integer_to_double(value, is_signed(c.from), c.to, c.rounding), c.to,
                      c.rounding);
  }
  double x = load_real(bits, c.from);
  const double smallest = 0x1p-126;
  if (c.flush && c.from == Name::f32 && std::fabs(x) < smallest) x = std::copysign(0.0, x);
  if (!is_real(c.to)) return to_integer(integral(x, c.rounding), c.to, c.from);
  Rounding rounding = c.rounding;
  if (c.to_integral) {
    x = integral(x, rounding);
    rounding = Rounding::nearest;
  }
  if (c.saturate) x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
  if (c.relu && !std::isnan(x)) x = x > 0 ? x : 0.0;
  const U64 r = store_real(x, c.to, rounding);
  // What has been rounded up to the smallest normal number stays.
  const bool subnormal = (r & 0x7f800000) == 0;
  return c.flush && c.to == Name::f32 && subnormal ? r & 0x80000000 : r;
}

U64 load_bits(Warp& w, std::int32_t slot, bool wide, int l) {
  return wide ? lane_of<U64>(w, slot, l) : lane_of<U32>(w, slot, l);
}

void cvt(Warp& w, const Instr& i, U32 mask) {
  Conversion c;
  std::memcpy(&c, &i.offset, sizeof c);
  for_lanes(mask, [&](int l) {
    const U64 r = convert(load_bits(w, i.a, i.wide_src, l), c);
    if (i.wide_dst) {
      lane_of<U64>(w, i.dst, l) = r;
    } else {
      lane_of<U32>(w, i.dst, l) = static_cast<U32>(r);
    }
  });
}

// The common ones, fast.
template <typename D, typename S>
void cast(Warp& w, const Instr& i, U32 mask) {
  map1<D, S>(w, i, mask, [](S s) { return static_cast<D>(s); });
}

Handler fast(const Conversion& c, bool wide_dst, bool wide_src) {
  if (c.saturate || c.flush || c.relu) return nullptr;
  const bool src64 = bytes_of(c.from) == 8;
  const bool dst64 = bytes_of(c.to) == 8;
  if (src64 != wide_src || dst64 != wide_dst) return nullptr;
  if (c.from == Name::u32 && dst64 && !is_real(c.to)) return cast<U64, U32>;
  if (c.from == Name::s32 && dst64 && !is_real(c.to)) return cast<I64, std::int32_t>;
  if (src64 && !is_real(c.from) && !is_real(c.to) && bytes_of(c.to) == 4) return cast<U32, U64>;
  if (c.from == Name::u16 && !is_real(c.to) && bytes_of(c.to) == 4) return cast<U32, U16>;
  if (c.rounding != Rounding::nearest || c.to_integral) return nullptr;
  if (c.from == Name::s32 && c.to == Name::f32) return cast<float, std::int32_t>;
  if (c.from == Name::u32 && c.to == Name::f32) return cast<float, U32>;
  if (c.from == Name::f16 && c.to == Name::f32) {
    return [](Warp& w, const Instr& i, U32 mask) {
      map1<float, U16>(w, i, mask, [](U16 s) {
        const float x = f16_to_float(s);
        return x == x ? x : std::bit_cast<float>(0x7fffffffu);
      });
    };
  }
  if (c.from == Name::f32 && c.to == Name::f16) {
    return [](Warp& w, const Instr& i, U32 mask) {
      map1<U16, float>(w, i, mask, [](float s) { return float_to_f16(s); });
    };
  }
  return nullptr;
}

// Two floats to a pair of small ones: d = {high: a, low: b}.
template <Format f, int bits>
void pack_two(Warp& w, const Instr& i, U32 mask) {
  Conversion c;
  std::memcpy(&c, &i.offset, sizeof c);
  for_lanes(mask, [&](int l) {
    const auto one = [&](std::int32_t slot) {
      double x = static_cast<double>(lane_of<float>(w, slot, l));
      if (c.relu && !std::isnan(x)) x = x > 0 ? x : 0.0;
      return encode<f>(x, c.rounding, c.saturate);
    };
    lane_of<U32>(w, i.dst, l) = one(i.a) << bits | one(i.b);
  });
}

// f16x2 to a pair of 8-bit floats and back. Instr::mode: 1 for .relu.
inline double positive(double x, std::uint8_t relu) { return relu != 0 && x <= 0 ? 0.0 : x; }
template <Format f>
void halves_to_bytes(Warp& w, const Instr& i, U32 mask) {
  for_lanes(mask, [&](int l) {
    const U32 a = lane_of<U32>(w, i.a, l);
    const auto one = [&](U32 half) {
      const auto x = static_cast<double>(f16_to_float(static_cast<U16>(half)));
      return encode<f>(positive(x, i.mode), Rounding::nearest, true);
    };
    lane_of<U16>(w, i.dst, l) = static_cast<U16>(one(a >> 16) << 8 | one(a & 0xffff));
  });
}
template <Format f, int bits = 8>
void bytes_to_halves(Warp& w, const Instr& i, U32 mask) {
  constexpr U32 low = (1u << bits) - 1;
  for_lanes(mask, [&](int l) {
    const U32 a = lane_of<U16>(w, i.a, l);
    const auto one = [&](U32 byte) {
      return encode<format_f16>(positive(decode<f>(byte), i.mode));
    };
    lane_of<U32>(w, i.dst, l) = one(a >> bits & low) << 16 | one(a & low);
  });
}

Name find_name(Builder& b, std::string_view text) {
  for (const TypeRow& row : names)
    if (row.text == text) return row.name;
  b.unsupported();
}

void decode_packed(Builder& b, std::string_view to, std::string_view from, const Conversion& c) {
  Instr& out = b.out;
  const int bytes = to.starts_with('e') ? 2 : 4;
  out.dst = b.def(b.operand(0), bytes);
  if (from == "f32" && b.operands() == 3) {
    out.a = b.use(b.operand(1), 4);
    out.b = b.use(b.operand(2), 4);
    std::memcpy(&out.offset, &c, sizeof c);
    if (to == "f16x2") out.run = pack_two<format_f16, 16>;
    if (to == "bf16x2") out.run = pack_two<format_bf16, 16>;
    if (to == "e4m3x2") out.run = pack_two<format_e4m3, 8>;
    if (to == "e5m2x2") out.run = pack_two<format_e5m2, 8>;
    if (to == "e3m2x2") out.run = pack_two<format_e3m2, 8>;
    if (to == "e2m3x2") out.run = pack_two<format_e2m3, 8>;
    if (to == "e2m1x2") out.run = pack_two<format_e2m1, 4>;
  } else {
    out.a = b.use(b.operand(1), 4);
    if (from == "f16x2" && to == "e4m3x2") out.run = halves_to_bytes<format_e4m3>;
    if (from == "f16x2" && to == "e5m2x2") out.run = halves_to_bytes<format_e5m2>;
    if (from == "e4m3x2" && to == "f16x2") out.run = bytes_to_halves<format_e4m3>;
    if (from == "e5m2x2" && to == "f16x2") out.run = bytes_to_halves<format_e5m2>;
    if (from == "e3m2x2" && to == "f16x2") out.run = bytes_to_halves<format_e3m2>;
    if (from == "e2m3x2" && to == "f16x2") out.run = bytes_to_halves<format_e2m3>;
    if (from == "e2m1x2" && to == "f16x2") out.run = bytes_to_halves<format_e2m1, 4>;
    out.mode = c.relu ? 1 : 0;
  }
  if (out.run == nullptr) b.unsupported();
}

}  // namespace

void decode_convert(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::convert;
  if (b.in.parts[1] == "pack") b.unsupported();
  const std::string_view from = b.in.parts.back();
  const std::string_view to = b.in.parts[b.in.parts.size() - 2];
  Conversion c{};
  c.flush = b.in.has("ftz");
  c.saturate = b.in.has("sat") || b.in.has("satfinite");
  c.relu = b.in.has("relu");
  for (const std::string_view part : b.in.parts) {
    if (part == "rz" || part == "rzi") c.rounding = Rounding::zero;
    if (part == "rm" || part == "rmi") c.rounding = Rounding::down;
    if (part == "rp" || part == "rpi") c.rounding = Rounding::up;
    if (part == "rna") c.rounding = Rounding::away;
    if (part == "rs") b.unsupported();
    if (part.size() == 3 && part[0] == 'r' && part[2] == 'i') c.to_integral = true;
  }
  if (to.ends_with("x2") || from.ends_with("x2")) return decode_packed(b, to, from, c);
  if (b.in.has("satfinite")) b.unsupported();
  c.to = find_name(b, to);
  c.from = find_name(b, from);
  out.dst = b.def(b.operand(0), bytes_of(c.to));
  out.wide_dst = b.wide(b.operand(0));
  out.a = b.use(b.operand(1), b.wide(b.operand(1)) ? 8 : bytes_of(c.from));
  out.wide_src = b.wide(b.operand(1)) || (!b.is_register(b.operand(1)) && bytes_of(c.from) == 8);
  // Integers that only change width are free on a GPU's ALU.
  if (!is_real(c.to) && !is_real(c.from)) out.op_class = OpClass::alu;
  std::memcpy(&out.offset, &c, sizeof c);
  const Handler quick = fast(c, out.wide_dst, out.wide_src);
  out.run = quick != nullptr ? quick : cvt;
}

}  // namespace emulator
