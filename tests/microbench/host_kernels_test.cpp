// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/host/fma.h"
#include "kernels/host/ping_pong.h"
#include "kernels/host/random.h"
#include "kernels/host/stream.h"

namespace warpmeter {
namespace {

using Doubles = hwy::AlignedFreeUniquePtr<double[]>;

constexpr double guard = -777;
constexpr std::size_t guards = 64;

// `count` random numbers, then guards that no loop may touch.
Doubles numbers(std::size_t count, std::uint64_t seed, double end = guard) {
  Doubles values = hwy::AllocateAligned<double>(count + guards);
  Random random(seed);
  for (std::size_t i = 0; i < count + guards; ++i) values[i] = i < count ? random.real(-9, 9) : end;
  return values;
}

// Every vector extension that was compiled in and that this CPU has.
class OnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::GetChosenTarget().Update(GetParam()); }
  void TearDown() override { hwy::GetChosenTarget().DeInit(); }

  template <class Check>
  static void for_each_count(const Check& check) {
    for (std::size_t count : {0, 1, 7, 8, 9, 31, 63, 64, 65, 127, 128, 1000, 4096})
      for (std::size_t passes : {1, 3}) check(count, passes);
  }
};

TEST_P(OnTarget, IsTheOneChosen) { EXPECT_EQ(vector_target(), hwy::TargetName(GetParam())); }

TEST_P(OnTarget, ReadSumsBitPatterns) {
  for_each_count([](std::size_t count, std::size_t passes) {
    const Doubles from = numbers(count, 1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += passes * std::bit_cast<std::uint64_t>(from[i]);
    EXPECT_EQ(stream_read(from.get(), count, passes), sum) << count;
  });
}

TEST_P(OnTarget, WriteFillsAllAndNoMore) {
  for (auto* write : {stream_write, stream_write_nt}) {
    for_each_count([write](std::size_t count, std::size_t passes) {
      const Doubles to = numbers(count, 2);
      write(to.get(), 2.5, count, passes);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], 2.5) << i << " of " << count;
      for (std::size_t i = count; i < count + guards; ++i) ASSERT_EQ(to[i], guard);
    });
  }
}

TEST_P(OnTarget, CopyCopiesAllAndNoMore) {
  for (auto* copy : {stream_copy, stream_copy_nt}) {
    for_each_count([copy](std::size_t count, std::size_t passes) {
      const Doubles to = numbers(count, 3), from = numbers(count, 4, 1);
      copy(to.get(), from.get(), count, passes);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], from[i]) << i << " of " << count;
      for (std::size_t i = count; i < count + guards; ++i) ASSERT_EQ(to[i], guard);
    });
  }
}

TEST_P(OnTarget, TriadAddsScaledRight) {
  for_each_count([](std::size_t count, std::size_t passes) {
    const Doubles to = numbers(count, 5), left = numbers(count, 6), right = numbers(count, 7);
    stream_triad(to.get(), left.get(), right.get(), 3.3, count, passes);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(to[i], left[i] + 3.3 * right[i], 1e-14) << i << " of " << count;
    for (std::size_t i = count; i < count + guards; ++i) ASSERT_EQ(to[i], guard);
  });
}

// Start, factors and addend of a tile; what each accumulator must be after `steps`, in double.
template <class T>
struct Tile {
  explicit Tile(FmaType type)
      : shape(fma_shape(type)),
        start(fill(shape.chains * shape.lanes, -2, 2)),
        factor(fill(shape.factors * shape.lanes, -1, 1)),
        addend(fill(shape.lanes, -1, 1)),
        result(hwy::AllocateAligned<T>(shape.chains * shape.lanes)) {}

  static hwy::AlignedFreeUniquePtr<T[]> fill(std::size_t count, double lo, double hi) {
    auto values = hwy::AllocateAligned<T>(count);
    Random random(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(random.real(lo, hi));
    return values;
  }

  double expected(std::size_t chain, std::size_t lane, std::size_t steps) const {
    double x = start[chain * shape.lanes + lane];
    for (std::size_t i = 0; i < steps; ++i)
      x = x * factor[chain % 2 * shape.lanes + lane] + addend[lane];
    return x;
  }

  FmaShape shape;
  hwy::AlignedFreeUniquePtr<T[]> start, factor, addend, result;
};

template <class T>
void check_fma(FmaType type) {
  const double tolerance = 100 * std::numeric_limits<T>::epsilon();
  Tile<T> tile(type);
  for (std::size_t steps : {0, 1, 2, 17}) {
    fma_blocks(tile.start.get(), tile.factor.get(), tile.addend.get(), steps, 2, tile.result.get());
    for (std::size_t i = 0; i < tile.shape.chains * tile.shape.lanes; ++i)
      ASSERT_NEAR(tile.result[i], tile.expected(i / tile.shape.lanes, i % tile.shape.lanes, steps),
                  tolerance)
          << "accumulator " << i << " after " << steps;
  }
  fma_chain(tile.start.get(), tile.factor.get(), tile.addend.get(), 32, tile.result.get());
  for (std::size_t lane = 0; lane < tile.shape.lanes; ++lane)
    ASSERT_NEAR(tile.result[lane], tile.expected(0, lane, 32), tolerance);
}

TEST_P(OnTarget, FmaF64MatchesScalar) { check_fma<double>(FmaType::f64); }
TEST_P(OnTarget, FmaF32MatchesScalar) { check_fma<float>(FmaType::f32); }

TEST_P(OnTarget, FmaFillsTheVector) {
  const std::size_t bytes = GetParam() == HWY_AVX3     ? 64
                            : GetParam() == HWY_AVX2   ? 32
                            : GetParam() == HWY_SCALAR ? 8
                                                       : 16;
  if (GetParam() != HWY_SCALAR) {
    EXPECT_EQ(fma_shape(FmaType::f64).lanes, bytes / 8);
    EXPECT_EQ(fma_shape(FmaType::f32).lanes, bytes / 4);
  } else {
    EXPECT_EQ(fma_shape(FmaType::f64).lanes, 1U);
    EXPECT_EQ(fma_shape(FmaType::f32).lanes, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Highway, OnTarget, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

TEST(FmaOps, AMultiplyAddCountsTwice) {
  EXPECT_EQ(fma_ops_per_step({24, 8, 1, 2}), 384);
  // One VDPBF16PS of 512 bits: 16 lanes of two products; one VPDPBUSD: 16 lanes of four.
  EXPECT_EQ(fma_ops_per_step({1, 16, 2, 4}), 64);
  EXPECT_EQ(fma_ops_per_step({1, 16, 4, 4}), 128);
  EXPECT_EQ(dot_shape(FmaType::bf16).depth, 2U);
  EXPECT_EQ(dot_shape(FmaType::int8).depth, 4U);
  EXPECT_THROW(fma_shape(FmaType::bf16), std::invalid_argument);
  EXPECT_THROW(dot_shape(FmaType::f32), std::invalid_argument);
}

double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

TEST(Dot, Bf16MatchesDouble) {
  if (!has_dot(FmaType::bf16)) GTEST_SKIP() << "no AVX512_BF16";
  const FmaShape shape = dot_shape(FmaType::bf16);
  std::vector<float> start(shape.chains * 16), result(start.size());
  std::vector<std::uint16_t> left(4 * 32), right(4 * 32);
  Random random(1);
  for (float& x : start) x = static_cast<float>(random.real(-8, 8));
  for (auto* list : {&left, &right})
    for (std::uint16_t& x : *list)
      x = static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(random.real(-2, 2))) >> 16);
  dot_blocks(start.data(), left.data(), right.data(), 5, 2, result.data());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::size_t a = i / 16 % 4 * 32 + i % 16 * 2, b = i / 16 / 4 % 4 * 32 + i % 16 * 2;
    const double sum =
        from_bf16(left[a]) * from_bf16(right[b]) + from_bf16(left[a + 1]) * from_bf16(right[b + 1]);
    ASSERT_NEAR(result[i], start[i] + 5 * sum, 1e-4) << i;
  }
}

TEST(Dot, Int8MatchesIntegersAndWraps) {
  if (!has_dot(FmaType::int8)) GTEST_SKIP() << "no AVX512_VNNI";
  const FmaShape shape = dot_shape(FmaType::int8);
  std::vector<std::int32_t> start(shape.chains * 16), result(start.size());
  std::vector<std::uint8_t> left(4 * 64);
  std::vector<std::int8_t> right(4 * 64);
  Random random(2);
  for (auto& x : start) x = std::numeric_limits<std::int32_t>::max() - 1000;
  for (auto& x : left) x = static_cast<std::uint8_t>(random.next());
  for (auto& x : right) x = static_cast<std::int8_t>(random.next());
  dot_blocks(start.data(), left.data(), right.data(), 7, 2, result.data());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::size_t a = i / 16 % 4 * 64 + i % 16 * 4, b = i / 16 / 4 % 4 * 64 + i % 16 * 4;
    std::int64_t sum = start[i];
    for (std::size_t k = 0; k < 4; ++k) sum += 7 * left[a + k] * right[b + k];
    ASSERT_EQ(result[i], static_cast<std::int32_t>(static_cast<std::uint32_t>(sum))) << i;
  }
}

TEST(PingPong, CountsEveryTurn) {
  Ball ball;
  ball.count = 5;
  std::thread other([&] { ping_pong(ball, 1, 5, 1000); });
  ping_pong(ball, 0, 5, 1000);
  other.join();
  EXPECT_EQ(ball.count.load(), 2005U);
}

}  // namespace
}  // namespace warpmeter
