// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mma.sync, dense. Fragments as in the PTX ISA, section "Matrix Fragments for mma": with g = lane /
// 4, t = lane % 4 and E elements to a register, register r of A holds rows g + 8 (r & 1), columns
// t E + 4 E (r >> 1) and following; of B rows t E + 4 E r and following, column g; of 32-bit C and
// D row g + 8 (r >> 1), column 2 t + (r & 1).
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "emulator/decode/decoder.h"
#include "emulator/decode/formats.h"
#include "emulator/decode/lanes.h"

namespace emulator {

void decode_matrix_memory(Builder&);

namespace {

using U32 = std::uint32_t;

struct Shape {
  int m = 0;
  int n = 0;
  int k = 0;
};

struct F16 {
  static constexpr int bits = 16;
  static double value(U32 x) {
    return static_cast<double>(f16_to_float(static_cast<std::uint16_t>(x)));
  }
};
struct Bf16 {
  static constexpr int bits = 16;
  static double value(U32 x) {
    return static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(x)));
  }
};
// The hardware reads the upper 19 bits.
struct Tf32 {
  static constexpr int bits = 32;
  static double value(U32 x) { return static_cast<double>(std::bit_cast<float>(x & 0xffffe000u)); }
};
struct E4m3 {
  static constexpr int bits = 8;
  static double value(U32 x) { return decode<format_e4m3>(x & 0xff); }
};
struct E5m2 {
  static constexpr int bits = 8;
  static double value(U32 x) { return decode<format_e5m2>(x & 0xff); }
};
struct S8 {
  static constexpr int bits = 8;
  static std::int32_t value(U32 x) { return static_cast<std::int8_t>(x); }
};
struct U8 {
  static constexpr int bits = 8;
  static std::int32_t value(U32 x) { return static_cast<std::uint8_t>(x); }
};

struct F32Sum {
  static constexpr bool packed = false;
  static double load(U32 x) { return static_cast<double>(std::bit_cast<float>(x)); }
  static U32 store(double x) {
    const float r = static_cast<float>(x);
    return std::isnan(r) ? 0x7fffffffu : std::bit_cast<U32>(r);
  }
};
struct F16Sum {
  static constexpr bool packed = true;
  static double load(U32 x) { return F16::value(x); }
  static U32 store(double x) { return encode<format_f16>(x); }
};
struct S32Sum {
  static constexpr bool packed = false;
  static std::int64_t load(U32 x) { return static_cast<std::int32_t>(x); }
  static U32 store(std::int64_t x) { return static_cast<U32>(x); }
};
struct S32Saturated : S32Sum {
  static U32 store(std::int64_t x) {
    return static_cast<U32>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX));
  }
};

// sum += left * right, eight columns. Four at a time, as gcc does not find it by itself.
template <typename T>
void add_product(Shape shape, const std::array<std::array<T, 64>, 16>& left,
                 const std::array<std::array<T, 8>, 64>& right,
                 std::array<std::array<T, 8>, 16>& sum) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
  for (int row = 0; row < shape.m; ++row) {
    Four* const to = reinterpret_cast<Four*>(sum[row].data());
    Four low = to[0];
    Four high = to[1];
    for (int k = 0; k < shape.k; ++k) {
      const Four* const factors = reinterpret_cast<const Four*>(right[k].data());
      low += left[row][k] * factors[0];
      high += left[row][k] * factors[1];
    }
    to[0] = low;
    to[1] = high;
  }
}

// Sums are exact (int) or in double, rounded once at the end: at least as exact as hardware, which
// truncates in a way that is not documented.
template <typename A, typename B, typename Sum>
void mma(Warp& w, const Instr& i, U32 mask) {
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  using T = decltype(Sum::load(0));
  const Shape shape{i.count, 8, static_cast<int>(i.target)};
  constexpr int per_register = 32 / A::bits;
  const int a_registers = shape.m / 8 * shape.k / (4 * per_register);
  const int b_registers = shape.k / (4 * per_register);
  const int c_registers = shape.m / 8 * (Sum::packed ? 1 : 2);
  const std::int32_t* d = &w.program().extra[i.extra];
  const std::int32_t* a = d + c_registers;
  const std::int32_t* b = a + a_registers;
  const std::int32_t* c = b + b_registers;
  std::array<std::array<T, 64>, 16> left;
  std::array<std::array<T, 8>, 64> right;
  std::array<std::array<T, 8>, 16> sum;
  for (int l = 0; l < 32; ++l) {
    const int g = l / 4;
    const int t = l % 4;
    for (int r = 0; r < a_registers; ++r) {
      // With eight rows there is no second half to alternate with.
      const int row = g + (shape.m == 16 ? 8 * (r & 1) : 0);
      const int column = t * per_register + (shape.m == 16 ? r >> 1 : r) * 4 * per_register;
      const U32 bits = lane_of<U32>(w, a[r], l);
      for (int e = 0; e < per_register; ++e)
        left[row][column + e] =
            static_cast<T>(A::value(A::bits == 32 ? bits : bits >> (e * A::bits % 32)));
    }
    for (int r = 0; r < b_registers; ++r) {
      const int row = t * per_register + r * 4 * per_register;
      const U32 bits = lane_of<U32>(w, b[r], l);
      for (int e = 0; e < per_register; ++e)
        right[row + e][g] =
            static_cast<T>(B::value(A::bits == 32 ? bits : bits >> (e * A::bits % 32)));
    }
    for (int r = 0; r < c_registers; ++r) {
      const U32 bits = lane_of<U32>(w, c[r], l);
      if constexpr (Sum::packed) {
        sum[g + 8 * r][2 * t] = Sum::load(bits);
        sum[g + 8 * r][2 * t + 1] = Sum::load(bits >> 16);
      } else {
        sum[g + 8 * (r >> 1)][2 * t + (r & 1)] = Sum::load(bits);
      }
    }
  }
  add_product(shape, left, right, sum);
  for (int l = 0; l < 32; ++l) {
    const int g = l / 4;
    const int t = l % 4;
    for (int r = 0; r < c_registers; ++r) {
      if constexpr (Sum::packed) {
        lane_of<U32>(w, d[r], l) =
            Sum::store(sum[g + 8 * r][2 * t + 1]) << 16 | Sum::store(sum[g + 8 * r][2 * t]);
      } else {
        lane_of<U32>(w, d[r], l) = Sum::store(sum[g + 8 * (r >> 1)][2 * t + (r & 1)]);
      }
    }
  }
}

void mma_f64(Warp& w, const Instr& i, U32 mask) {
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  const int m = i.count;
  const int depth = static_cast<int>(i.target);
  const int c_registers = m / 4;
  const int a_registers = m / 8 * depth / 4;
  const std::int32_t* d = &w.program().extra[i.extra];
  const std::int32_t* a = d + c_registers;
  const std::int32_t* b = a + a_registers;
  const std::int32_t* c = b + depth / 4;
  std::array<std::array<double, 16>, 16> left;
  std::array<std::array<double, 8>, 16> right;
  for (int l = 0; l < 32; ++l) {
    for (int r = 0; r < a_registers; ++r) {
      const int row = l / 4 + (m == 16 ? 8 * (r & 1) : 0);
      left[row][l % 4 + 4 * (m == 16 ? r >> 1 : r)] = lane_of<double>(w, a[r], l);
    }
    for (int r = 0; r < depth / 4; ++r) right[l % 4 + 4 * r][l / 4] = lane_of<double>(w, b[r], l);
  }
  for (int l = 0; l < 32; ++l) {
    for (int r = 0; r < c_registers; ++r) {
      double sum = lane_of<double>(w, c[r], l);
      for (int k = 0; k < depth; ++k) {
        sum = std::fma(left[l / 4 + 8 * (r >> 1)][k], right[k][2 * (l % 4) + (r & 1)], sum);
      }
      lane_of<double>(w, d[r], l) = sum;
    }
  }
}

Shape parse_shape(std::string_view text) {  // m16n8k16
  Shape shape;
  const char* end = text.data() + text.size();
  const auto n = std::from_chars(text.data() + 1, end, shape.m);
  const auto k = std::from_chars(n.ptr + 1, end, shape.n);
  std::from_chars(k.ptr + 1, end, shape.k);
  return shape;
}

template <typename A, typename B>
Handler integer(bool saturates) {
  return saturates ? mma<A, B, S32Saturated> : mma<A, B, S32Sum>;
}

Handler choose(std::string_view d, std::string_view a, std::string_view b, bool saturates) {
  if (a == "s8" && b == "s8") return integer<S8, S8>(saturates);
  if (a == "s8" && b == "u8") return integer<S8, U8>(saturates);
  if (a == "u8" && b == "s8") return integer<U8, S8>(saturates);
  if (a == "u8" && b == "u8") return integer<U8, U8>(saturates);
  if (a == "f16") return d == "f16" ? mma<F16, F16, F16Sum> : mma<F16, F16, F32Sum>;
  if (d != "f32") return nullptr;
  if (a == "bf16") return mma<Bf16, Bf16, F32Sum>;
  if (a == "tf32") return mma<Tf32, Tf32, F32Sum>;
  if (a == "e4m3") return b == "e4m3" ? mma<E4m3, E4m3, F32Sum> : mma<E4m3, E5m2, F32Sum>;
  if (a == "e5m2") return b == "e4m3" ? mma<E5m2, E4m3, F32Sum> : mma<E5m2, E5m2, F32Sum>;
  return nullptr;
}

OpClass class_of(std::string_view a) {
  if (a == "f16" || a == "bf16") return OpClass::mma_f16;
  if (a == "tf32") return OpClass::mma_tf32;
  if (a == "f64") return OpClass::mma_f64;
  return a == "s8" || a == "u8" ? OpClass::mma_int8 : OpClass::mma_fp8;
}

}  // namespace

void decode_matrix(Builder& b) {
  if (b.in.base() != "mma") return decode_matrix_memory(b);
  Instr& out = b.out;
  const auto& parts = b.in.parts;
  if (!b.in.has("sync") || b.in.has("sp") || b.in.has("sp::ordered_metadata") ||
      b.in.has("block_scale") || b.in.has("and") || b.in.has("xor") || parts.size() < 9)
    b.unsupported();
  // mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype
  const Shape shape = parse_shape(parts[3]);
  const std::string_view d = parts[parts.size() - 4];
  const std::string_view a = parts[parts.size() - 3];
  const std::string_view bt = parts[parts.size() - 2];
  if (shape.n != 8 || (shape.m != 8 && shape.m != 16) || !b.in.has("row") || !b.in.has("col"))
    b.unsupported();
  if (shape.m == 8 && (a == "f16" || shape.k > 16)) b.unsupported();
  const int bytes = a == "f64" ? 8 : 4;
  std::vector<std::int32_t> places;
  for (const ptx::Operand& part : b.operand(0).parts) places.push_back(b.def(part, bytes));
  for (std::size_t n = 1; n < 4; ++n) {
    const ptx::Operand& operand = b.operand(n);
    if (operand.kind != ptx::OperandKind::vector) {  // f64 m8n8k4: {%fd} may be written %fd
      places.push_back(b.use(operand, bytes));
      continue;
    }
    for (const ptx::Operand& part : operand.parts) places.push_back(b.use(part, bytes));
  }
  out.extra = b.extra(places);
  out.count = static_cast<std::uint8_t>(shape.m);
  out.target = static_cast<U32>(shape.k);
  out.work = static_cast<double>(shape.m) * shape.n * shape.k;
  out.op_class = class_of(a);
  out.run = a == "f64" ? mma_f64 : choose(d, a, bt, b.in.has("satfinite"));
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
