// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Forms that came with compute capability 9.0 and 10.0, against the same arithmetic on the host.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "tests/emulator/managed.h"
#include "tests/emulator/ptx_program.h"

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// %in and %out point to `in` and `out` bytes of each thread.
std::string prologue(int in, int out) {
  return ".reg .b32 %t;\n.reg .b64 %in, %out, %off;\nmov.u32 %t, %tid.x;\nld.param.u64 %in, "
         "[p0];\nld.param.u64 %out, [p1];\nmul.wide.u32 %off, %t, " +
         std::to_string(in) + ";\nadd.u64 %in, %in, %off;\nmul.wide.u32 %off, %t, " +
         std::to_string(out) + ";\nadd.u64 %out, %out, %off;\n";
}

U32 bits(float x) { return std::isnan(x) ? 0x7fffffffu : std::bit_cast<U32>(x); }

TEST(FloatPairs, AreTwoFloats) {
  std::mt19937 random(1);
  Managed<float> in(6 * 256), out(8 * 256);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = std::bit_cast<float>(static_cast<U32>(random()));
    if (i % 3 == 0) in[i] = std::ldexp(static_cast<float>(random() % 1000), -140);  // subnormal
  }
  const PtxProgram program(
      "sm_100a", 2,
      prologue(24, 32) +
          ".reg .b64 %a, %b, %c, %r;\nld.global.b64 %a, [%in];\nld.global.b64 %b, [%in+8];\n"
          "ld.global.b64 %c, [%in+16];\nfma.rn.f32x2 %r, %a, %b, %c;\nst.global.b64 [%out], %r;\n"
          "add.rn.f32x2 %r, %a, %b;\nst.global.b64 [%out+8], %r;\nmul.rz.f32x2 %r, %a, %b;\n"
          "st.global.b64 [%out+16], %r;\nfma.rn.ftz.f32x2 %r, %a, %b, %c;\n"
          "st.global.b64 [%out+24], %r;\n");
  ASSERT_EQ(program.run(1, 256, {in.get(), out.get()}), cudaSuccess);
  const auto flush = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  for (std::size_t i = 0; i < 512; ++i) {
    const std::size_t t = i / 2, half = i % 2;
    const float a = in[6 * t + half], b = in[6 * t + 2 + half], c = in[6 * t + 4 + half];
    EXPECT_EQ(bits(out[8 * t + half]), bits(std::fma(a, b, c)));
    EXPECT_EQ(bits(out[8 * t + 2 + half]), bits(a + b));
    // Toward zero: the double product, exact, cut off.
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    float cut = static_cast<float>(exact);
    if (std::isfinite(exact) && std::fabs(static_cast<double>(cut)) > std::fabs(exact)) {
      cut = std::nextafter(cut, 0.0f);
    }
    EXPECT_EQ(bits(out[8 * t + 4 + half]), bits(cut)) << a << " " << b;
    EXPECT_EQ(bits(out[8 * t + 6 + half]), bits(flush(std::fma(flush(a), flush(b), flush(c)))));
  }
}

TEST(WideLoads, Move32Bytes) {
  Managed<U32> in(64 * 8), out(64 * 16);
  for (U32 i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
  const PtxProgram program(
      "sm_100a", 2,
      prologue(32, 64) +
          ".reg .b32 %w<8>;\n.reg .b64 %d<4>;\nld.global.v8.b32 {%w0,%w1,%w2,%w3,%w4,%w5,%w6,%w7}, "
          "[%in];\nst.global.v8.b32 [%out], {%w7,%w6,%w5,%w4,%w3,%w2,%w1,%w0};\n"
          "ld.global.v4.b64 {%d0,%d1,%d2,%d3}, [%in];\nst.global.v4.b64 [%out+32], "
          "{%d3,%d2,%d1,%d0};\n");
  ASSERT_EQ(program.run(1, 64, {in.get(), out.get()}), cudaSuccess);
  for (U32 t = 0; t < 64; ++t) {
    for (U32 i = 0; i < 8; ++i) {
      EXPECT_EQ(out[16 * t + i], in[8 * t + 7 - i]);
      EXPECT_EQ(out[16 * t + 8 + i], in[8 * t + (6 - i / 2 * 2) + i % 2]);
    }
  }
  const PtxProgram misaligned(
      "sm_100a", 2,
      prologue(32, 64) +
          ".reg .b64 %d<4>;\nld.global.v4.b64 {%d0,%d1,%d2,%d3}, [%in+16];\n"
          "st.global.b64 [%out], %d0;\n");
  EXPECT_EQ(misaligned.run(1, 1, {in.get(), out.get()}), cudaErrorMisalignedAddress);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

// Each thread swaps its value in, and puts it there if it finds what its neighbour wrote.
TEST(WideAtomics, ExchangeAndCompare128Bits) {
  Managed<U64> in(2 * 32), out(4 * 32), cell(4);
  for (U64 i = 0; i < in.size(); ++i) in[i] = (i + 1) * 0x123456789abcdefull;
  cell[0] = cell[2] = 77;
  cell[1] = cell[3] = 88;
  const PtxProgram program(
      "sm_90", 3,
      prologue(16, 32) +
          ".reg .b64 %lo, %hi, %cell;\n.reg .b128 %v, %old, %seen;\nld.param.u64 %cell, [p2];\n"
          "ld.global.v2.b64 {%lo, %hi}, [%in];\nmov.b128 %v, {%lo, %hi};\n"
          "atom.relaxed.gpu.global.exch.b128 %old, [%cell], %v;\nmov.b128 {%lo, %hi}, %old;\n"
          "st.global.v2.b64 [%out], {%lo, %hi};\nmov.b128 %seen, {77, 88};\n"
          "atom.relaxed.gpu.global.cas.b128 %old, [%cell+16], %seen, %v;\n"
          "mov.b128 {%lo, %hi}, %old;\nst.global.v2.b64 [%out+16], {%lo, %hi};\n");
  ASSERT_EQ(program.run(1, 32, {in.get(), out.get(), cell.get()}), cudaSuccess);
  for (std::size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[4 * t], t == 0 ? 77 : in[2 * t - 2]);
    EXPECT_EQ(out[4 * t + 1], t == 0 ? 88 : in[2 * t - 1]);
    EXPECT_EQ(out[4 * t + 2], t == 0 ? 77 : in[0]);  // only the first finds 77 and 88
    EXPECT_EQ(out[4 * t + 3], t == 0 ? 88 : in[1]);
  }
  EXPECT_EQ(cell[0], in[62]);
  EXPECT_EQ(cell[3], in[1]);
}

TEST(FloatReductions, KnowNanAndSigns) {
  Managed<float> in(32), out(4 * 32);
  for (std::size_t i = 0; i < 32; ++i) in[i] = static_cast<float>(i % 7) * 1.5f - 4.0f;
  const PtxProgram program(
      "sm_100a", 2,
      prologue(4, 16) +
          ".reg .f32 %x, %r;\nld.global.f32 %x, [%in];\nredux.sync.min.f32 %r, %x, -1;\n"
          "st.global.f32 [%out], %r;\nredux.sync.max.abs.f32 %r, %x, -1;\n"
          "st.global.f32 [%out+4], %r;\nredux.sync.max.NaN.f32 %r, %x, -1;\n"
          "st.global.f32 [%out+8], %r;\nredux.sync.max.f32 %r, %x, -1;\n"
          "st.global.f32 [%out+12], %r;\n");
  ASSERT_EQ(program.run(1, 32, {in.get(), out.get()}), cudaSuccess);
  EXPECT_EQ(out[0], -4.0f);
  EXPECT_EQ(out[1], 5.0f);
  EXPECT_EQ(out[2], 5.0f);
  in[9] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_EQ(program.run(1, 32, {in.get(), out.get()}), cudaSuccess);
  EXPECT_EQ(out[4 * 31], -4.0f);
  EXPECT_TRUE(std::isnan(out[4 * 31 + 2]));
  EXPECT_EQ(out[4 * 31 + 3], 5.0f);
  for (std::size_t i = 0; i < 32; ++i) in[i] = i == 5 ? 0.0f : -0.0f;
  ASSERT_EQ(program.run(1, 32, {in.get(), out.get()}), cudaSuccess);
  EXPECT_TRUE(std::signbit(out[0]));
  EXPECT_FALSE(std::signbit(out[3]));
}

// The eight values of e2m1 by hand; each float goes to the nearest, the even one of two.
TEST(Conversions, FourBits) {
  static constexpr float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const auto nearest = [](float x) {
    if (std::isnan(x)) return U32{7};
    if (std::fabs(x) > 6) return x < 0 ? U32{15} : U32{7};
    U32 best = 0;
    for (U32 i = 1; i < 8; ++i) {
      const float d = std::fabs(std::fabs(x) - values[i]),
                  e = std::fabs(std::fabs(x) - values[best]);
      if (d < e || (d == e && i % 2 == 0)) best = i;
    }
    return best | (std::signbit(x) ? 8u : 0u);
  };
  constexpr std::size_t n = 256;
  Managed<float> in(2 * n);
  Managed<U32> out(3 * n);
  for (std::size_t i = 0; i < 2 * n; ++i) in[i] = (static_cast<float>(i) - 256) * 0.03125f;
  in[3] = std::numeric_limits<float>::quiet_NaN();
  in[4] = -std::numeric_limits<float>::infinity();
  const PtxProgram program(
      "sm_100a", 2,
      prologue(8, 12) +
          ".reg .f32 %x, %y;\n.reg .b8 %p, %z;\n.reg .b32 %w;\nld.global.v2.f32 {%x, %y}, [%in];\n"
          "cvt.rn.satfinite.e2m1x2.f32 %p, %y, %x;\nmov.b32 %w, 0;\ncvt.u32.u8 %w, %p;\n"
          "st.global.b32 [%out], %w;\ncvt.rn.f16x2.e2m1x2 %w, %p;\nst.global.b32 [%out+4], %w;\n"
          ".reg .b16 %h;\ncvt.rn.satfinite.e3m2x2.f32 %h, %y, %x;\ncvt.rn.f16x2.e3m2x2 %w, %h;\n"
          "st.global.b32 [%out+8], %w;\n");
  ASSERT_EQ(program.run(1, n, {in.get(), out.get()}), cudaSuccess);
  for (std::size_t t = 0; t < n; ++t) {
    const U32 low = nearest(in[2 * t]), high = nearest(in[2 * t + 1]);
    EXPECT_EQ(out[3 * t], low | high << 4) << in[2 * t] << " " << in[2 * t + 1];
    for (const U32 half : {0u, 1u}) {
      const U32 code = half == 0 ? low : high;
      const float back = (code & 8 ? -1.0f : 1.0f) * values[code & 7];
      const auto bits16 = static_cast<std::uint16_t>(out[3 * t + 1] >> (16 * half));
      EXPECT_EQ(static_cast<float>(std::bit_cast<_Float16>(bits16)), back);
      // e3m2 has two bits behind the point of its mantissa, steps of 1/16 below 1/4, and at
      // most 28.
      const float x = in[2 * t + half];
      if (std::isnan(x)) continue;
      int exponent = 0;
      std::frexp(x, &exponent);
      const float step = std::ldexp(1.0f, std::max(exponent - 3, -4));
      const float want =
          std::copysign(std::min(28.0f, std::fabs(std::nearbyint(x / step) * step)), x);
      const auto got = static_cast<std::uint16_t>(out[3 * t + 2] >> (16 * half));
      EXPECT_EQ(static_cast<float>(std::bit_cast<_Float16>(got)), want) << x;
    }
  }
}

// Thread t of block 0 of a cluster of two stores to and adds in block 1, which waits for the bytes.
TEST(AsyncStores, ReachTheOtherBlockWithItsBarrier) {
  Managed<U32> in(32), out(32 * 6);
  for (U32 i = 0; i < 32; ++i) in[i] = 1000 + i * i;
  const PtxProgram program(
      "sm_90a", 2,
      ".shared .align 16 .b8 box[1024];\n.shared .align 8 .b64 bar;\n" + prologue(4, 24) +
          ".reg .b32 %rank, %at, %there, %bar, %x, %v<4>;\n.reg .pred first, zero, done;\n"
          "mov.u32 %rank, %cluster_ctarank;\nsetp.eq.u32 first, %rank, 0;\nsetp.eq.u32 zero, %t, "
          "0;\n"
          "mov.u32 %bar, bar;\n@zero mbarrier.init.shared::cta.b64 [%bar], 1;\n"
          "@zero mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 640;\nmov.u32 %at, box;\n"
          "shl.b32 %x, %t, 4;\nadd.u32 %at, %at, %x;\nmov.b32 %v0, 5;\nst.shared.b32 [%at+512], "
          "%v0;\n"
          "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
          "@!first bra WAIT;\nld.global.b32 %x, [%in];\nadd.u32 %v1, %x, 1;\n"
          "mapa.shared::cluster.u32 %there, %at, 1;\nmapa.shared::cluster.u32 %bar, %bar, 1;\n"
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%there], {%x, %v1, %x, "
          "%t}, "
          "[%bar];\nred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
          "[%there+512], %x, [%bar];\nbra END;\nWAIT:\n"
          "mbarrier.try_wait.parity.shared::cta.b64 done, [%bar], 0;\n@!done bra WAIT;\n"
          "ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%at];\nst.global.b32 [%out], %v0;\n"
          "st.global.b32 [%out+4], %v1;\nst.global.b32 [%out+8], %v2;\nst.global.b32 [%out+12], "
          "%v3;\n"
          "ld.shared.b32 %x, [%at+512];\nst.global.b32 [%out+16], %x;\nEND:\n"
          "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  void *from = in.get(), *to = out.get();
  void* arguments[] = {&from, &to};
  ASSERT_EQ(cudaLaunchKernelExC(&config, program.kernel(), arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 t = 0; t < 32; ++t) {
    EXPECT_EQ(out[6 * t], in[t]);
    EXPECT_EQ(out[6 * t + 1], in[t] + 1);
    EXPECT_EQ(out[6 * t + 3], t);
    EXPECT_EQ(out[6 * t + 4], in[t] + 5);
  }
}

TEST(Election, ChoosesOneLaneOfTheMask) {
  Managed<U32> in(1), out(2 * 32);
  for (U32 i = 0; i < 64; ++i) out[i] = 0;
  const PtxProgram program(
      "sm_90", 2,
      prologue(0, 8) +
          ".reg .b32 %l, %m;\n.reg .pred p, q;\nsetp.ge.u32 q, %t, 7;\n@!q bra END;\n"
          "elect.sync %l|p, 0xffffff80;\nselp.b32 %m, 1, 2, p;\n"
          "st.global.b32 [%out], %l;\nst.global.b32 [%out+4], %m;\nEND:\n");
  ASSERT_EQ(program.run(1, 32, {in.get(), out.get()}), cudaSuccess);
  U32 elected = 0;
  for (U32 t = 7; t < 32; ++t) {
    EXPECT_EQ(out[2 * t], out[14]);
    if (out[2 * t + 1] == 1) {
      ++elected;
      EXPECT_EQ(out[2 * t], t);
    }
  }
  EXPECT_EQ(elected, 1u);
}

}  // namespace
