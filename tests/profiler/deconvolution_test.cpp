// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Deconvolution: what it finds exactly, and what it refuses.
#include "profiler/deconvolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/profiler/pm_simulation.h"

namespace warpmeter {
namespace {

TEST(Deconvolution, FindsTheOffsetOfTheClocks) {
  PmWorld world;
  world.offset_ns = 600;
  world.shuffle = false;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const PmRecording recording = simulate(world, seed);
    Timeline timeline(recording.kernels, world.groups);
    const Deconvolution result = deconvolve(recording.times, {&recording.levels, 1}, timeline);
    EXPECT_NEAR(result.clock_offset_ns, recording.offset_ns, 50);
    EXPECT_LT(result.clock_offset_sd_ns, 50);
  }
}

// Intervals of 1000 ns; launches are put into them by hand.
struct ByHand {
  std::vector<KernelSpan> kernels;
  std::vector<std::int64_t> times{0};
  std::vector<SampleSeries> series{{SampleSeries::Kind::count, {0}}};

  void interval(double count, const std::vector<KernelSpan>& inside) {
    for (const KernelSpan& k : inside)
      kernels.push_back({times.back() + k.start_ns, times.back() + k.end_ns, k.group});
    times.push_back(times.back() + 1000);
    series[0].values.push_back(count);
  }
  std::vector<GroupValue> values(std::int32_t groups, double boundary_sd_ns = 1) const {
    Timeline timeline(kernels, groups);
    DeconvolutionOptions options;
    options.offset_sd_ns = options.boundary_sd_ns = boundary_sd_ns;
    return deconvolve(times, series, timeline, options).values[0];
  }
};

TEST(Deconvolution, ExactCountsComeBackExactly) {
  ByHand hand;
  for (int i = 0; i < 60; ++i) {
    if (i % 3 == 0) hand.interval(70, {{100, 300, 0}});
    if (i % 3 == 1) hand.interval(70 + 11 + 11, {{100, 300, 0}, {400, 450, 1}, {500, 550, 1}});
    if (i % 3 == 2) hand.interval(0, {});
  }
  const auto values = hand.values(2);
  EXPECT_NEAR(*values[0].value, 70, 0.01);
  EXPECT_NEAR(*values[1].value, 11, 0.01);
  EXPECT_EQ(values[0].samples, 40);
  EXPECT_NEAR(values[1].launches, 40, 1e-9);
}

TEST(Deconvolution, WhatAlwaysRunsTogetherInTheSameProportionIsNotTold) {
  ByHand hand;
  for (int i = 0; i < 60; ++i) {
    if (i % 2 == 0) hand.interval(70 + 11, {{100, 300, 0}, {400, 450, 1}});
    if (i % 2 == 1) hand.interval(5, {{100, 200, 2}});
  }
  const auto values = hand.values(3);
  for (const int g : {0, 1}) {
    EXPECT_FALSE(values[std::size_t(g)].value);
    EXPECT_EQ(values[std::size_t(g)].verdict, Verdict::unsupported);
    EXPECT_EQ(values[std::size_t(g)].confused_with, 1 - g);
  }
}

// Two neighbours that only the cut between them tells apart, while the cut is not known as well as
// they are long.
TEST(Deconvolution, WhatOnlyTheClocksTellApartIsNotTold) {
  PmWorld world;
  world.groups = world.pattern = 2;
  world.shortest_ns = 150;
  world.longest_ns = 250;
  world.gap_ns = 0;
  world.repeats = 20000;
  world.shuffle = false;
  const PmRecording recording = simulate(world, 1);
  Timeline timeline(recording.kernels, 2);
  const Deconvolution result = deconvolve(recording.times, {&recording.counts, 1}, timeline);
  for (const GroupValue& value : result.values[0]) EXPECT_FALSE(value.value);
}

TEST(Deconvolution, OverlapIsLeftOutOrRefused) {
  ByHand hand;
  for (int i = 0; i < 120; ++i) {
    if (i % 6 == 0) hand.interval(40, {{100, 300, 0}});
    if (i % 6 == 1) hand.interval(0, {});
    if (i % 6 == 2) hand.interval(65, {{100, 750, 1}});
    if (i % 6 == 3) hand.interval(7, {{100, 200, 2}});
    // Together they do not count what each does alone.
    if (i % 6 == 4) hand.interval(500, {{100, 300, 0}, {250, 900, 1}});
    if (i % 6 == 5) hand.interval(20, {{210, 900, 1}, {210, 900, 2}});
  }
  const auto values = hand.values(3);
  ASSERT_TRUE(values[0].value) << values[0].reason;
  EXPECT_NEAR(*values[0].value, 40, 2);
  EXPECT_FALSE(values[2].value);
  EXPECT_EQ(values[2].verdict, Verdict::contaminated);
  EXPECT_NE(values[2].reason.find("87 % of its time"), std::string::npos) << values[2].reason;
}

TEST(Deconvolution, OneLaunchHoldsForItselfOnly) {
  ByHand hand;
  for (int i = 0; i < 40; ++i) hand.interval(i % 2, {});
  const std::int64_t start = hand.times.back();
  for (int i = 0; i < 60; ++i) hand.interval(100 + i % 3, {});
  hand.kernels.push_back({start, hand.times.back(), 0});
  for (int i = 0; i < 40; ++i) hand.interval(i % 2, {});
  const auto values = hand.values(1);
  ASSERT_TRUE(values[0].value) << values[0].reason;
  EXPECT_NEAR(*values[0].value, 101 * 60, 10);
  EXPECT_NE(values[0].reason.find("one launch"), std::string::npos);
}

TEST(Deconvolution, RefusesWhatWasNotSampledOrContradicts) {
  ByHand hand;
  for (int i = 0; i < 40; ++i) hand.interval(i % 2 == 0 ? 100 : 20, {{0, i % 2 == 0 ? 1 : 500, 0}});
  hand.kernels.push_back({-500, -100, 1});  // before the first sample
  hand.kernels.push_back({100, 100, 2});
  const auto values = hand.values(4);
  EXPECT_EQ(values[0].verdict, Verdict::unstable);
  EXPECT_NE(values[0].reason.find("below 0"), std::string::npos) << values[0].reason;
  EXPECT_EQ(values[1].reason, "no sample was taken while it ran");
  EXPECT_EQ(values[2].reason, "no launch has a duration");
  EXPECT_EQ(values[3].reason, "no launch has a duration");
}

TEST(Deconvolution, TooFewSamplesForSoManyKernels) {
  ByHand hand;
  for (int i = 0; i < 10; ++i) hand.interval(i, {{0, 900, i % 6}});
  const auto values = hand.values(6);
  for (const GroupValue& value : values)
    EXPECT_EQ(value.reason, "too few samples for so many kernels");
}

// A share of hits has no value while nothing runs; the counts beside it do.
TEST(Deconvolution, ASeriesWithoutValuesInPlacesKeepsTheOthersWhole) {
  ByHand hand;
  hand.series.push_back({SampleSeries::Kind::level, {0}});
  for (int i = 0; i < 80; ++i) {
    const bool runs = i % 2 == 0;
    hand.interval(runs ? 30 : 0,
                  runs ? std::vector<KernelSpan>{{0, 1000, 0}} : std::vector<KernelSpan>{});
    hand.series[1].values.push_back(runs ? 0.75 : std::numeric_limits<double>::quiet_NaN());
  }
  Timeline timeline(hand.kernels, 1);
  DeconvolutionOptions options;
  options.boundary_sd_ns = 1;
  const auto values = deconvolve(hand.times, hand.series, timeline, options).values;
  EXPECT_EQ(values[0][0].samples, 40);
  EXPECT_NEAR(*values[0][0].value, 30, 0.5);
  EXPECT_NEAR(*values[1][0].value, 0.75, 1e-6);
}

// After an overflow the intervals are twice as long.
TEST(Deconvolution, IntervalsMayDiffer) {
  PmWorld world;
  PmRecording recording = simulate(world, 3);
  std::vector<std::int64_t> times;
  SampleSeries counts;
  const std::size_t half = recording.times.size() / 2;
  for (std::size_t i = 0; i < recording.times.size(); ++i) {
    if (i > half && (i - half) % 2 == 1 && i + 1 < recording.times.size()) {
      recording.counts.values[i + 1] += recording.counts.values[i];
      continue;
    }
    times.push_back(recording.times[i]);
    counts.values.push_back(recording.counts.values[i]);
  }
  Timeline timeline(recording.kernels, world.groups);
  const auto values = deconvolve(times, {&counts, 1}, timeline).values[0];
  int held = 0;
  for (int g = 0; g < world.groups; ++g)
    held += *values[std::size_t(g)].low <= recording.count_truth[std::size_t(g)] &&
            recording.count_truth[std::size_t(g)] <= *values[std::size_t(g)].high;
  EXPECT_GE(held, 9);
}

TEST(Deconvolution, MoreKernelsThanUnknownsShareTheLastOne) {
  PmWorld world;
  const PmRecording recording = simulate(world, 2);
  Timeline timeline(recording.kernels, world.groups);
  DeconvolutionOptions options;
  options.most_unknowns = 6;
  int named = 0, rest = 0;
  const Deconvolution result =
      deconvolve(recording.times, {&recording.counts, 1}, timeline, options);
  for (const GroupValue& value : result.values[0]) {
    named += value.value ? 1 : 0;
    rest += value.reason.starts_with("too many kernels") ? 1 : 0;
  }
  EXPECT_EQ(named + rest, 12);
  EXPECT_GE(rest, 6);
  EXPECT_GE(named, 4);
}

}  // namespace
}  // namespace warpmeter
