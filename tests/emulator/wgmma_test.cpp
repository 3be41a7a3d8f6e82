// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// wgmma against sums in double, over all types, shapes and layouts.
#include "tests/emulator/wgmma_product.h"

namespace {

using std::to_string;

void expect_product(const WgmmaCase& c, unsigned seed) {
  Product p(c, seed);
  ASSERT_EQ(p.run(with_waits[0] + product_of(c) + with_waits[1]), cudaSuccess) << product_of(c);
  p.for_results([&](double got, double before, double product) {
    ASSERT_EQ(got, product + (c.keeps ? before : 0)) << product_of(c);
  });
}

TEST(Wgmma, AllWidths) {
  WgmmaCase c;
  for (c.n = 8; c.n <= 256; c.n += 8) expect_product(c, static_cast<unsigned>(c.n));
}

TEST(Wgmma, AllTypes) {
  const std::string types[][3] = {
      {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
      {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
      {"f32", "e5m2", "e4m3"}, {"f16", "e5m2", "e5m2"}, {"f16", "e4m3", "e4m3"},
      {"s32", "s8", "s8"},     {"s32", "s8", "u8"},     {"s32", "u8", "s8"},
      {"s32", "u8", "u8"}};
  unsigned seed = 100;
  for (const auto& [d, a, b] : types) {
    for (const std::size_t n : {8, 64, 96}) {
      for (const bool registers : {false, true}) {
        WgmmaCase c{d, a, b, n, registers};
        c.a_span = 32u << seed % 3;
        c.b_span = seed % 4 == 0 ? 0 : 128u >> seed % 3;
        c.keeps = seed % 5 != 0;
        expect_product(c, seed++);
      }
    }
  }
}

TEST(Wgmma, AllLayouts) {
  unsigned seed = 200;
  for (const std::size_t a_span : {0, 32, 64, 128}) {
    for (const std::size_t b_span : {0, 32, 64, 128}) {
      for (int major = 0; major < 4; ++major) {
        WgmmaCase c{"f32", "f16", "f16", 64, false, a_span, b_span, major % 2 != 0, major / 2 != 0};
        c.a_sign = seed % 3 == 0 ? -1 : 1;
        c.b_sign = seed % 4 == 0 ? -1 : 1;
        expect_product(c, seed++);
      }
    }
  }
}

// A pattern that begins at no multiple of its length: the descriptor says where in it.
TEST(Wgmma, SwizzlesFromTheirOwnBegin) {
  for (const std::size_t begin : {1, 3, 7, 9}) {
    WgmmaCase c;
    c.n = 16;
    c.begin = begin;
    expect_product(c, static_cast<unsigned>(300 + begin));
  }
}

TEST(Wgmma, ResultsComeWithTheWait) {
  WgmmaCase c;
  c.n = 16;
  // Two groups: the first wait brings what the first product gave, the stores see that.
  Product one(c, 1);
  const std::string product = product_of(c);
  const std::string commit = "wgmma.commit_group.sync.aligned;\n";
  ASSERT_EQ(one.run(with_waits[0] + product + commit), cudaSuccess);
  one.for_results([](double got, double before, double) { ASSERT_EQ(got, before); });
  Product two(c, 2);
  ASSERT_EQ(two.run(with_waits[0] + product + commit + product + commit +
                    "wgmma.wait_group.sync.aligned 0;\n"),
            cudaSuccess);
  two.for_results([](double got, double before, double sum) { ASSERT_EQ(got, before + 2 * sum); });
  Product none(c, 3);
  EXPECT_EQ(none.run(product + with_waits[1]), cudaErrorIllegalInstruction);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

// Two sums in two groups: with one group allowed to be open, only the first has arrived.
TEST(Wgmma, WaitsLeaveTheNewestGroupsOpen) {
  WgmmaCase c;
  std::string other = product_of(c);
  for (std::size_t at; (at = other.find("%d0,%d1,%d2,%d3")) != std::string::npos;) {
    other.replace(at, 15, "%e0,%e1,%e2,%e3");
  }
  std::string to_other = ".reg .f32 %e<4>;\n", from_other;
  for (const std::string r : {"0", "1", "2", "3"}) {
    to_other += "mov.f32 %e" + r + ", %d" + r + ";\n";
    from_other += "mov.f32 %d" + r + ", %e" + r + ";\n";
  }
  const std::string commit = "wgmma.commit_group.sync.aligned;\n";
  const std::string both = to_other + with_waits[0] + other + commit + product_of(c) + commit +
                           "wgmma.wait_group.sync.aligned 1;\n";
  Product second(c, 6), first(c, 6);
  ASSERT_EQ(second.run(both), cudaSuccess);
  second.for_results([](double got, double before, double) { ASSERT_EQ(got, before); });
  ASSERT_EQ(first.run(both + from_other), cudaSuccess);
  first.for_results([](double got, double before, double sum) { ASSERT_EQ(got, before + sum); });
}

// Compilers copy accumulators before the wait: the copy gets the sum too.
TEST(Wgmma, CopiesOfAccumulatorsGetTheSum) {
  WgmmaCase c;
  std::string text = ".reg .f32 %e<4>;\n" + std::string(with_waits[0]) + product_of(c), back;
  for (const std::string r : {"0", "1", "2", "3"}) {
    text += "mov.f32 %e" + r + ", %d" + r + ";\n";
    back += "mov.f32 %d" + r + ", %e" + r + ";\n";
  }
  Product p(c, 7);
  ASSERT_EQ(p.run(text + with_waits[1] + back), cudaSuccess);
  p.for_results([](double got, double before, double sum) { ASSERT_EQ(got, before + sum); });
}

TEST(Wgmma, SaturatesWhenAsked) {
  for (const bool saturates : {false, true}) {
    WgmmaCase c{"s32", "u8", "u8", 8};
    c.saturates = saturates;
    Product p(c, 4);
    // 80 products on top of one another of at most 32 * 36 each stay far below the limit: start
    // high.
    std::string text;
    for (int r = 0; r < 4; ++r) text += "mov.b32 %d" + to_string(r) + ", 0x7fffffff;\n";
    ASSERT_EQ(p.run(text + with_waits[0] + product_of(c) + with_waits[1]), cudaSuccess);
    p.for_results([&](double got, double, double sum) {
      const double exact = 2147483647.0 + sum;
      ASSERT_EQ(got, sum == 0 || saturates ? 2147483647.0 : exact - 4294967296.0);
    });
  }
}

// Eight products of 64 x 256 x 16 take 8 * 128 cycles of the four tensor pipes.
TEST(Wgmma, IssuesAtTheRateOfTheTensorPipe) {
  WgmmaCase c;
  c.n = 256;
  std::string text = ".reg .u64 %begin, %now;\n" + std::string(with_waits[0]) + product_of(c) +
                     with_waits[1] + "mov.u64 %begin, %clock64;\n";
  for (int i = 0; i < 8; ++i) text += product_of(c);
  text += std::string(with_waits[1]) +
          "mov.u64 %now, %clock64;\nsub.u64 %now, %now, %begin;\ncvt.rn.f32.u64 %d0, %now;\n";
  Product p(c, 5);
  ASSERT_EQ(p.run(text), cudaSuccess);
  double cycles = 0;
  bool first = true;
  p.for_results([&](double got, double, double) {
    if (first) cycles = got;
    first = false;
  });
  EXPECT_NEAR(cycles, 8 * 128 + 30, 12);  // and the latency
}

}  // namespace
