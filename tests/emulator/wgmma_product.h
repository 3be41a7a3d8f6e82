// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

// One wgmma with its operands, as PTX and as numbers.
#include <random>

#include "tests/emulator/managed.h"
#include "tests/emulator/ptx_program.h"
#include "tests/emulator/wgmma_case.h"

inline constexpr std::size_t image_bytes = 96 * 1024;  // A and B
inline constexpr std::size_t b_at = 48 * 1024;

inline std::string list(const std::string& name, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + (name + std::to_string(i));
  return text + "}";
}

inline std::string product_of(const WgmmaCase& c) {
  const bool narrow = c.a == "f16" || c.a == "bf16";
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k" +
                     std::to_string(c.depth()) + (c.saturates ? ".satfinite." : ".") + c.d + "." +
                     c.a + "." + c.b + " " + list("%d", c.registers()) + ", " +
                     (c.a_in_registers ? list("%a", 4) : "%descA") + ", %descB, keeps";
  if (c.d != "s32") text += ", " + std::to_string(c.a_sign) + ", " + std::to_string(c.b_sign);
  if (narrow && !c.a_in_registers) text += c.a_transposed ? ", 1" : ", 0";
  if (narrow) text += c.b_transposed ? ", 1" : ", 0";
  return text + ";\n";
}

// Copies the image (p0) to shared memory, loads D (p1), and A's registers (p2), multiplies with the
// descriptors p3 and p4, and stores D.
inline std::string kernel_of(const WgmmaCase& c, const std::string& product) {
  const std::string type = c.d == "f32" ? "f32" : "b32";
  std::string text =
      ".shared .align 1024 .b8 image[" + std::to_string(image_bytes) +
      "];\n.reg .b32 %t, %at, %end, %a<4>, %word, %base;\n.reg .b64 %in, %dptr, %aptr, %descA, "
      "%descB, %off, %bptr;\n.reg .pred keeps, more;\n.reg ." +
      type + " %d<" + std::to_string(c.registers()) + ">;\n" +
      "mov.u32 %t, %tid.x;\nld.param.u64 %in, [p0];\nld.param.u64 %dptr, [p1];\nld.param.u64 "
      "%aptr, "
      "[p2];\nld.param.u64 %descA, [p3];\nld.param.u64 %descB, [p4];\nmov.u32 %base, image;\n"
      "shl.b32 %at, %t, 2;\nCOPY:\ncvt.u64.u32 %off, %at;\nadd.u64 %off, %in, %off;\n"
      "ld.global.b32 %word, [%off];\nadd.u32 %end, %base, %at;\nst.shared.b32 [%end], %word;\n"
      "add.u32 %at, %at, 512;\nsetp.lt.u32 more, %at, " +
      std::to_string(image_bytes) +
      ";\n@more bra COPY;\nbar.sync 0;\nshr.u32 %base, %base, 4;\ncvt.u64.u32 %bptr, %base;\n"
      "add.u64 %descA, %descA, %bptr;\nadd.u64 %descB, %descB, %bptr;\nsetp.ne.b32 keeps, " +
      std::string(c.keeps ? "1" : "0") + ", 0;\nmul.wide.u32 %off, %t, " +
      std::to_string(4 * c.registers()) +
      ";\nadd.u64 %dptr, %dptr, %off;\nmul.wide.u32 %off, %t, 16;\n" +
      "add.u64 %aptr, %aptr, %off;\nld.global.v4.b32 " + list("%a", 4) + ", [%aptr];\n";
  for (std::size_t r = 0; r < c.registers(); ++r) {
    text += "ld.global." + type + " %d" + std::to_string(r) + ", [%dptr+" + std::to_string(4 * r) +
            "];\n";
  }
  text += product;
  for (std::size_t r = 0; r < c.registers(); ++r) {
    text += "st.global." + type + " [%dptr+" + std::to_string(4 * r) + "], %d" + std::to_string(r) +
            ";\n";
  }
  return text;
}

inline const char* const with_waits[] = {
    "wgmma.fence.sync.aligned;\n",
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned "
    "0;\n"};

inline double decode_sum(const std::string& type, std::uint32_t bits, std::size_t half) {
  if (type == "s32") return static_cast<double>(static_cast<std::int32_t>(bits));
  if (type == "f32") return static_cast<double>(std::bit_cast<float>(bits));
  return static_cast<double>(
      std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits >> (16 * half))));
}
inline std::uint32_t encode_sum(const std::string& type, int value) {
  if (type == "s32") return static_cast<std::uint32_t>(value);
  return type == "f32" ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                       : encode_element("f16", value);
}

// Operands, their image and what D holds before and after.
class Product {
 public:
  Product(const WgmmaCase& c, unsigned seed)
      : case_(c),
        image_(image_bytes / 4),
        sums_(128 * c.registers()),
        fragments_(128 * 4),
        a_{64, WgmmaCase::bits_of(c.a) / 8, c.a_span, c.a_transposed},
        b_{c.n, WgmmaCase::bits_of(c.b) / 8, c.b_span, c.b_transposed} {
    std::mt19937 random(seed);
    const auto value = [&random](const std::string& type) {
      return static_cast<int>(random() % 7) - (type == "u8" ? 0 : 3);
    };
    a_.choose_strides();
    b_.choose_strides();
    a_.step = c.a_span == 0 ? 0 : seed % (c.a_span / 32);
    b_.step = c.b_span == 0 ? 0 : seed / 2 % (c.b_span / 32);
    for (std::size_t m = 0; m < 64; ++m)
      for (std::size_t k = 0; k < c.depth(); ++k)
        put(a_, 128 * c.begin, m, k, left_[m][k] = value(c.a), c.a);
    for (std::size_t n = 0; n < c.n; ++n)
      for (std::size_t k = 0; k < c.depth(); ++k)
        put(b_, b_at, n, k, right_[n][k] = value(c.b), c.b);
    for (std::size_t t = 0; t < 128; ++t) {
      for (std::size_t r = 0; r < 4; ++r) fragments_[4 * t + r] = fragment(t, r);
      for (std::size_t i = 0; i < c.n / 2; ++i) {
        const std::size_t row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
        const std::size_t column = i / 4 * 8 + t % 4 * 2 + i % 2;
        before_[row][column] = static_cast<int>(random() % 100) - 50;
        word(t, i) |= encode_sum(c.d, before_[row][column]) << shift(i);
      }
    }
  }
  cudaError_t run(const std::string& product) {
    const PtxProgram program("sm_90a", 5, kernel_of(case_, product));
    if (program.loaded() != cudaSuccess) return program.loaded();
    return program.run(1, 128,
                       {image_.get(), sums_.get(), fragments_.get(),
                        reinterpret_cast<const void*>(a_.descriptor(128 * case_.begin)),
                        reinterpret_cast<const void*>(b_.descriptor(b_at))});
  }
  // Calls f(what D holds, what it held, the product) for each element.
  template <typename F>
  void for_results(F f) {
    for (std::size_t t = 0; t < 128; ++t) {
      for (std::size_t i = 0; i < case_.n / 2; ++i) {
        const std::size_t row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
        const std::size_t column = i / 4 * 8 + t % 4 * 2 + i % 2;
        double sum = 0;
        for (std::size_t k = 0; k < case_.depth(); ++k) {
          sum += static_cast<double>(left_[row][k]) * right_[column][k];
        }
        f(decode_sum(case_.d, word(t, i), i % 2), before_[row][column],
          sum * case_.a_sign * case_.b_sign);
      }
    }
  }

 private:
  // Element i of D in thread t, counted as the PTX ISA does.
  std::uint32_t& word(std::size_t t, std::size_t i) {
    return sums_[t * case_.registers() + (case_.d == "f16" ? i / 2 : i)];
  }
  std::size_t shift(std::size_t i) const { return case_.d == "f16" ? 16 * (i % 2) : 0; }
  void put(const WgmmaLayout& layout, std::size_t from, std::size_t row, std::size_t k, int value,
           const std::string& type) {
    const std::uint32_t bits = encode_element(type, value);
    std::memcpy(reinterpret_cast<char*>(image_.get()) + from + layout.place(row, k), &bits,
                layout.bytes);
  }
  std::uint32_t fragment(std::size_t t, std::size_t r) const {
    const std::size_t bits = WgmmaCase::bits_of(case_.a), each = 32 / bits;
    std::uint32_t word = 0;
    for (std::size_t e = 0; e < each; ++e) {
      const std::size_t row = t / 32 * 16 + t % 32 / 4 + (r % 2 == 1 ? 8 : 0);
      const std::size_t column = t % 4 * each + e + (r >= 2 ? 4 * each : 0);
      word |= encode_element(case_.a, left_[row][column]) << (bits * e);
    }
    return word;
  }

  WgmmaCase case_;
  Managed<std::uint32_t> image_;
  Managed<std::uint32_t> sums_;
  Managed<std::uint32_t> fragments_;
  WgmmaLayout a_;
  WgmmaLayout b_;
  int left_[64][32] = {};
  int right_[256][32] = {};
  int before_[64][256] = {};
};
