// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/overhead.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profiler/overhead_keeper.h"

namespace warpmeter {
namespace {

constexpr std::int64_t second = 1'000'000'000;

struct Program {
  double overhead = 0, noise = 0, drift = 0;  // drift: of ln(rate) per window
  double phase = 1;                           // factor of the rate in every other phase
  double rate = 50'000;
};

// Windows of 0.2 s in the order ABBA, with counts as the program would make them.
std::vector<Window> planted(const Program& program, std::size_t pairs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Window> windows;
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    Window window;
    window.armed = i % 4 == 0 || i % 4 == 3;
    window.from_ns = static_cast<std::int64_t>(i) * second / 4;
    window.to_ns = window.from_ns + second / 5;
    double rate = program.rate *
                  std::exp(program.drift * static_cast<double>(i) + program.noise * normal(random));
    if (random() % 2 == 0) rate *= program.phase;
    if (window.armed) rate /= 1 + program.overhead;
    window.launches = static_cast<std::uint64_t>(rate / 5);
    windows.push_back(window);
  }
  return windows;
}

TEST(Overhead, IntervalHoldsThePlantedOverheadAsOftenAsItSays) {
  constexpr int trials = 1000;
  for (const double overhead : {0., 0.01, 0.05, 0.2, 0.64})
    for (const double noise : {0.005, 0.05})
      for (const double drift : {0., 0.02})
        for (const std::size_t pairs : {6U, 18U}) {
          int held = 0;
          double sum = 0;
          for (int i = 0; i < trials; ++i) {
            const auto windows =
                planted({overhead, noise, drift}, pairs, 1 + static_cast<std::uint64_t>(i));
            const OverheadEstimate estimate = estimate_overhead(windows);
            ASSERT_TRUE(estimate.ok()) << estimate.reason;
            held += *estimate.low <= overhead && overhead <= *estimate.high;
            sum += std::log1p(*estimate.value);
          }
          const double share = static_cast<double>(held) / trials;
          EXPECT_GE(share, 0.85) << overhead << ' ' << noise << ' ' << drift << ' ' << pairs;
          EXPECT_LE(share, 0.95) << overhead << ' ' << noise << ' ' << drift << ' ' << pairs;
          EXPECT_NEAR(sum / trials, std::log1p(overhead), noise / 20);
        }
}

// By hand: pairs with ln ratios 0.01, 0.03 (armed first) and 0.02, 0.06 (armed second): mean 0.03,
// s2 = (0.0002 + 0.0008) / 2, half = t(2) sqrt(s2 / 4) with t(2) = 2.91999 at 0.9.
TEST(Overhead, IsThatOfTheFormula) {
  std::vector<Window> windows;
  const auto pair = [&](bool armed_first, double ratio) {
    constexpr std::uint64_t base = 1'000'000'000;
    const auto other = static_cast<std::uint64_t>(std::llround(1e9 * std::exp(ratio)));
    windows.push_back({armed_first, 0, second, armed_first ? base : other});
    windows.push_back({!armed_first, 0, second, armed_first ? other : base});
  };
  pair(true, 0.01);
  pair(false, 0.02);
  pair(true, 0.03);
  pair(false, 0.06);
  const OverheadEstimate estimate = estimate_overhead(windows);
  ASSERT_TRUE(estimate.ok());
  const double half = 2.919986 * std::sqrt(0.0005 / 4);
  EXPECT_NEAR(*estimate.value, std::expm1(0.03), 1e-6);
  EXPECT_NEAR(*estimate.low, std::expm1(0.03 - half), 1e-6);
  EXPECT_NEAR(*estimate.high, std::expm1(0.03 + half), 1e-6);
}

TEST(Overhead, ASteadyDriftIsNoScatter) {
  const OverheadEstimate estimate = estimate_overhead(planted({0.1, 0, 0.05}, 6, 1));
  ASSERT_TRUE(estimate.ok());
  EXPECT_NEAR(*estimate.value, 0.1, 0.001);
  EXPECT_LT(*estimate.high - *estimate.low, 0.002);
}

TEST(Overhead, EqualSmallCountsAreNotExact) {
  const OverheadEstimate estimate = estimate_overhead(planted({0, 0, 0, 1, 120}, 6, 1));
  ASSERT_TRUE(estimate.ok());
  EXPECT_EQ(*estimate.value, 0);
  EXPECT_LT(*estimate.low, -0.01);  // of 24 launches, one more or less at either end
  EXPECT_GT(*estimate.high, 0.01);
}

TEST(Overhead, PhasesAreToldAsUnstable) {
  int told = 0, rounds = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto windows = planted({0.05, 0.02, 0, 3}, 6, seed);
    const OverheadEstimate estimate = estimate_overhead(windows);
    ++rounds;
    told += estimate.unstable;
    if (estimate.unstable) {
      EXPECT_FALSE(estimate.ok());
      EXPECT_NE(estimate.reason.find("scatter"), std::string::npos);
    }
  }
  EXPECT_GE(told, rounds * 95 / 100);
}

TEST(Overhead, IsNullWithAReason) {
  EXPECT_FALSE(estimate_overhead({}).value);
  auto windows = planted({}, 6, 1);
  windows[5].launches = 19;
  EXPECT_EQ(estimate_overhead(windows).reason, "a window saw 19 launches; 20 are needed");
  windows[5].launches = 0;
  EXPECT_FALSE(estimate_overhead(windows).value);
  const OverheadEstimate few = estimate_overhead(planted({}, 3, 1));
  EXPECT_FALSE(few.value);
  EXPECT_FALSE(few.reason.empty());
  EXPECT_TRUE(to_json(few)["value"].is_null());
}

// A program of which each collector costs something, driven by the keeper in virtual time.
struct Simulation {
  OverheadKeeper keeper;
  std::map<std::string, double> cost;
  double rate = 10'000, noise = 0;  // per second
  std::int64_t now = 0;
  double launches = 0, kernels = 0;
  std::int64_t unarmed_ns = 0;
  std::vector<std::string> shed{};
  bool armed = true;
  std::mt19937_64 random{1};

  void advance(std::int64_t step) {
    double overhead = 0;
    for (const auto& [name, part] : cost) overhead += part;
    std::normal_distribution<double> normal;
    const double made = rate * static_cast<double>(step) * 1e-9 * std::exp(noise * normal(random)) /
                        (armed ? 1 + overhead : 1);
    launches += made;
    if (armed) kernels += made;
    if (!armed) unarmed_ns += step;
    now += step;
  }
  void open() {
    armed = keeper.next_armed();
    keeper.open(now, static_cast<std::uint64_t>(launches));
  }
  void run(double seconds) {
    const std::int64_t until = now + static_cast<std::int64_t>(seconds * 1e9);
    while (now < until) {
      advance(second / 20);
      if (!keeper.running()) {
        if (keeper.begins(now, static_cast<std::uint64_t>(kernels))) open();
        continue;
      }
      if (!keeper.over(now)) continue;
      keeper.close(now, static_cast<std::uint64_t>(launches));
      if (!keeper.complete()) {
        open();
        continue;
      }
      armed = true;
      std::set<std::string> present;
      for (const auto& [name, part] : cost) present.insert(name);
      if (const auto name = keeper.end(now, present)) {
        shed.push_back(*name);
        cost.erase(*name);
      }
    }
  }
};

TEST(OverheadKeeper, AShortRunHasNoHoles) {
  Simulation s{OverheadKeeper(0.03, {}), {{"timeline", 1}}};
  s.run(4.9);
  EXPECT_EQ(s.unarmed_ns, 0);
}

TEST(OverheadKeeper, NothingIsDoneWhereNothingIsLaunched) {
  Simulation s{OverheadKeeper(0.03, {}), {{"timeline", 1}}};
  s.rate = 0;
  s.run(100);
  EXPECT_EQ(s.unarmed_ns, 0);
  s.rate = 10'000;
  s.run(1);
  s.rate = 0;  // the warm-up passes without launches: they do not flow when it is over
  s.run(100);
  EXPECT_EQ(s.unarmed_ns, 0);
}

TEST(OverheadKeeper, WithinTheBudgetNothingIsShed) {
  Simulation s{OverheadKeeper(0.03, {}), {{"pm", 0.005}, {"timeline", 0.01}}};
  s.noise = 0.005;
  s.run(140);
  EXPECT_EQ(s.shed, std::vector<std::string>{});
  const Json json = s.keeper.describe();
  EXPECT_EQ(json["rounds"].size(), 3U);  // from 5, 67 and 130 s on, nearly
  EXPECT_EQ(json["rounds"][0]["finding"], "within the budget");
  EXPECT_NEAR(json["value"].get<double>(), 0.015, 0.01);
  EXPECT_LT(static_cast<double>(s.unarmed_ns), 0.03 * static_cast<double>(s.now));
}

TEST(OverheadKeeper, ShedsInOrderUntilTheRestIsWithinTheBudget) {
  Simulation s{OverheadKeeper(0.03, {}),
               {{"pc", 0.01}, {"pm", 0.02}, {"calls", 0.3}, {"nvtx", 0.002}, {"timeline", 0.01}}};
  s.noise = 0.002;
  s.run(60);
  EXPECT_EQ(s.shed, (std::vector<std::string>{"pc", "pm", "calls"}));
  EXPECT_EQ(s.keeper.describe()["shed"], (Json{"pc", "pm", "calls"}));
  EXPECT_EQ(s.keeper.describe()["rounds"].back()["finding"], "within the budget");
}

TEST(OverheadKeeper, TheTimelineGoesLast) {
  Simulation s{OverheadKeeper(0.03, {}), {{"timeline", 0.5}, {"calls", 0.1}, {"range", 0.1}}};
  s.run(60);
  EXPECT_EQ(s.shed, (std::vector<std::string>{"range", "calls", "timeline"}));
}

TEST(OverheadKeeper, ARoundThatDoesNotDecideIsRepeatedThreeTimesAtMost) {
  Simulation s{OverheadKeeper(0.03, {}), {{"timeline", 0.037}}};
  s.noise = 0.02;  // of 0.05 s: the budget lies within the interval
  s.run(30);
  const Json json = s.keeper.describe();
  ASSERT_EQ(json["rounds"].size(), 3U) << json;
  EXPECT_EQ(json["rounds"][0]["finding"], "not decided yet");
  EXPECT_EQ(json["rounds"][2]["finding"], "not decided; tried again in the next period");
  EXPECT_EQ(json["rounds"][2]["windows"], 36);  // of all three together
  EXPECT_EQ(s.shed, std::vector<std::string>{});
}

TEST(OverheadKeeper, UnstableRatesShedNothing) {
  Simulation s{OverheadKeeper(0.0001, {}), {{"timeline", 3}}};
  s.noise = 2;
  s.run(30);
  EXPECT_EQ(s.shed, std::vector<std::string>{});
  EXPECT_EQ(s.keeper.describe()["verdict"], "unstable");
}

TEST(OverheadKeeper, AnAbandonedRoundLeavesNoWindows) {
  OverheadKeeper keeper(0.03, {0, 0.2, 4, 60});
  EXPECT_TRUE(keeper.begins(second, 100));
  keeper.open(second, 0);
  keeper.close(2 * second, 100);
  keeper.open(2 * second, 100);
  keeper.abandon(3 * second, "armed or disarmed from outside");
  EXPECT_FALSE(keeper.running());
  EXPECT_FALSE(keeper.begins(3 * second, 200));  // not at once
  EXPECT_TRUE(keeper.begins(5 * second, 300));
  EXPECT_TRUE(keeper.next_armed());  // from the beginning
  EXPECT_EQ(keeper.describe()["abandoned"]["armed or disarmed from outside"], 1);
}

}  // namespace
}  // namespace warpmeter
