// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// add.cc addc sub.cc subc mad.cc madc: arithmetic with the carry flag.
#include "emulator/decode/decoder.h"
#include "emulator/decode/lanes.h"

namespace emulator {
namespace {

// Bits of Instr::mode.
constexpr std::uint8_t reads_flag = 1;
constexpr std::uint8_t writes_flag = 2;
constexpr std::uint8_t high_part = 4;
constexpr std::uint8_t subtracts = 8;

template <typename T>
void add_carry(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    const unsigned __int128 flag = i.mode & reads_flag ? w.carry >> l & 1 : 0;
    const T a = lane_of<T>(w, i.a, l);
    const T b = lane_of<T>(w, i.b, l);
    unsigned __int128 sum = 0;
    if (i.mode & subtracts) {
      // The flag is a borrow: it is set if the difference is negative.
      sum = static_cast<unsigned __int128>(a) - b - flag;
    } else {
      sum = static_cast<unsigned __int128>(a) + b + flag;
    }
    lane_of<T>(w, i.dst, l) = static_cast<T>(sum);
    const auto carried = static_cast<std::uint32_t>(sum >> (8 * sizeof(T)) & 1);
    if (i.mode & writes_flag) w.carry = (w.carry & ~(1u << l)) | carried << l;
  });
}

template <typename T, typename S>
void mad_carry(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    // S is the operand's type, whose sign counts for the high part. The product wraps.
    const auto widened = [&](std::int32_t slot) {
      return static_cast<unsigned __int128>(
          static_cast<__int128>(static_cast<S>(lane_of<T>(w, slot, l))));
    };
    const unsigned __int128 product = widened(i.a) * widened(i.b);
    const T part = static_cast<T>(i.mode & high_part ? product >> (8 * sizeof(T)) : product);
    const unsigned __int128 flag = i.mode & reads_flag ? w.carry >> l & 1 : 0;
    const unsigned __int128 sum =
        static_cast<unsigned __int128>(part) + lane_of<T>(w, i.c, l) + flag;
    lane_of<T>(w, i.dst, l) = static_cast<T>(sum);
    const auto carried = static_cast<std::uint32_t>(sum >> (8 * sizeof(T)) & 1);
    if (i.mode & writes_flag) w.carry = (w.carry & ~(1u << l)) | carried << l;
  });
}

}  // namespace

void decode_carry(Builder& b) {
  const std::string_view base = b.in.base();
  const ptx::Type type = b.in.type();
  b.standard(type);
  Instr& out = b.out;
  if (base.back() == 'c') out.mode |= reads_flag;  // addc, subc, madc
  if (b.in.has("cc")) out.mode |= writes_flag;
  if (b.in.has("hi")) out.mode |= high_part;
  if (base.starts_with("sub")) out.mode |= subtracts;
  const bool sign = type.kind == ptx::Kind::signed_int;
  if (base.starts_with("mad")) {
    out.op_class = OpClass::imad;
    if (type.bytes == 4) {
      out.run =
          sign ? mad_carry<std::uint32_t, std::int32_t> : mad_carry<std::uint32_t, std::uint32_t>;
    } else {
      out.run =
          sign ? mad_carry<std::uint64_t, std::int64_t> : mad_carry<std::uint64_t, std::uint64_t>;
    }
  } else {
    out.run = type.bytes == 4 ? add_carry<std::uint32_t> : add_carry<std::uint64_t>;
  }
}

}  // namespace emulator
