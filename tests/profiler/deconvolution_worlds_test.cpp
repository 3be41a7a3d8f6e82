// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Deconvolution against planted worlds: do the intervals hold as often as they say?
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "profiler/deconvolution.h"
#include "tests/profiler/pm_simulation.h"

namespace warpmeter {
namespace {

struct Score {
  int held = 0, values = 0, refused = 0;
  double bias = 0, width = 0;  // relative, means
};

// Over seeds of a world; every seed's groups.
Score score(const PmWorld& world, SampleSeries::Kind kind, unsigned seeds = 40) {
  Score out;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const PmRecording recording = simulate(world, seed);
    const bool count = kind == SampleSeries::Kind::count;
    const SampleSeries& series = count ? recording.counts : recording.levels;
    Timeline timeline(recording.kernels, world.groups);
    const Deconvolution result = deconvolve(recording.times, {&series, 1}, timeline);
    for (int g = 0; g < world.groups; ++g) {
      const GroupValue& value = result.values[0][std::size_t(g)];
      const double truth = (count ? recording.count_truth : recording.level_truth)[std::size_t(g)];
      if (!value.value) {
        EXPECT_NE(value.reason, "");
        ++out.refused;
        continue;
      }
      ++out.values;
      out.held += *value.low <= truth && truth <= *value.high ? 1 : 0;
      out.bias += *value.value / truth - 1;
      out.width += (*value.high - *value.low) / truth;
    }
  }
  out.bias /= out.values;
  out.width /= out.values;
  return out;
}

struct NamedWorld {
  const char* name;
  std::function<void(PmWorld&)> change;
};

class Worlds : public testing::TestWithParam<NamedWorld> {};

TEST_P(Worlds, NinetyPercentIntervalsHoldNinetyPercentOfTheTime) {
  PmWorld world;
  GetParam().change(world);
  for (const auto kind : {SampleSeries::Kind::count, SampleSeries::Kind::level}) {
    const Score result = score(world, kind);
    const double held = double(result.held) / result.values;
    EXPECT_GE(held, 0.85);
    EXPECT_LE(held, 0.95);
    EXPECT_LT(std::abs(result.bias), 0.1 * result.width);
    EXPECT_LT(result.refused, result.values / 50);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Deconvolution, Worlds,
    testing::Values(NamedWorld{"mixed", [](PmWorld&) {}},
                    NamedWorld{"back_to_back", [](PmWorld& w) { w.gap_ns = 0; }},
                    NamedWorld{"always_in_the_same_order", [](PmWorld& w) { w.shuffle = false; }},
                    NamedWorld{"clocks_half_a_microsecond_apart",
                               [](PmWorld& w) { w.offset_ns = 500; }},
                    NamedWorld{"only_shorter_than_an_interval",
                               [](PmWorld& w) { w.longest_ns = 2e4, w.repeats = 400; }},
                    NamedWorld{"only_longer_than_ten_intervals",
                               [](PmWorld& w) { w.shortest_ns = 5e5, w.repeats = 10; }},
                    NamedWorld{"launches_that_differ", [](PmWorld& w) { w.count_cv = 0.3; }},
                    NamedWorld{"many_samples_dropped", [](PmWorld& w) { w.dropped = 0.3; }}),
    [](const auto& world) { return world.param.name; });

// A program that does the same every 13 us: how much of a kernel an interval holds differs only by
// where the interval cuts, so that a jitter assumed wrongly would be a bias of several percent.
class Periodic : public testing::TestWithParam<double> {};

TEST_P(Periodic, IntervalsHoldWhateverTheBoundariesJitter) {
  PmWorld world;
  world.groups = 2;
  world.pattern = 3;
  world.repeats = 3000;
  world.shortest_ns = 300, world.longest_ns = 4000;
  world.gap_ns = 7000;
  world.duration_cv = world.count_cv = world.noise = world.idle_rate = 0;
  world.interval_ns = 1e5;
  world.offset_ns = 0;
  world.shuffle = false;
  world.steady = true;
  world.jitter_ns = GetParam();
  for (const auto kind : {SampleSeries::Kind::count, SampleSeries::Kind::level}) {
    const Score result = score(world, kind, 150);
    const double held = double(result.held) / result.values;
    EXPECT_LT(std::abs(result.bias), std::max(0.001, 0.1 * result.width));
    EXPECT_LT(result.refused, 30);
    // Exact boundaries leave only what whole ns of launches round off.
    if (world.jitter_ns == 0) {
      EXPECT_LT(result.width, 0.005);
      continue;
    }
    EXPECT_GE(held, 0.85);
    EXPECT_LE(held, 0.95);
  }
}

INSTANTIATE_TEST_SUITE_P(Deconvolution, Periodic, testing::Values(0, 20, 100));

}  // namespace
}  // namespace warpmeter
