// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "calibrator/overlap.h"
#include "model/predict.h"
#include "tests/model/synthetic.h"

namespace warpmeter {
namespace {

// 200 noisy machines: how often the 90 % intervals hold the planted truth, and a new shape's time.
TEST(FitOverlap, IntervalsHoldTheTruthAboutNineTimesInTen) {
  const Truth truth;
  const Machine exact = true_machine(truth);
  std::mt19937_64 random(99);
  std::normal_distribution<double> normal(0, 0.06);
  std::map<std::string, std::pair<int, int>> held;  // inside, count
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine = planted_machine();
    fit_overlap(machine, synthetic_run(truth, 8, 0.06, seed), {100, 1});
    const auto judge = [&](const std::string& kind, const std::optional<Interval>& interval,
                           double expected) {
      held[kind].second += 1;
      held[kind].first += interval && interval->lo <= expected && expected <= interval->hi;
    };
    judge("overlap", machine.parameters["model.overlap"].interval, truth.p);
    for (const auto& [family, o] : truth.overhead) {
      const std::string name = "model.overhead." + family;
      judge("overhead", machine.parameters[name].interval, o.first);
      judge("share", machine.parameters[name + ".share"].interval, o.second);
      const Measurement row = kernel_row(family, "held_out", 100, 1, work_of(seed % 9));
      const double time = *predict(exact, *row.work, row.parameters).time_s;
      judge("new shape", predict(machine, *row.work, row.parameters).interval,
            time * std::exp(normal(random)));
    }
  }
  for (const auto& [kind, counts] : held) {
    const double share = static_cast<double>(counts.first) / counts.second;
    RecordProperty(kind, std::to_string(share));
    std::printf("%s: %.3f of %d\n", kind.c_str(), share, counts.second);
    EXPECT_GE(share, 0.85) << kind;
    EXPECT_LE(share, 0.95) << kind;
  }
}

}  // namespace
}  // namespace warpmeter
