// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/ladder.h"

#include <gtest/gtest.h>

#include "access_support.h"

namespace warpmeter {
namespace {

constexpr unsigned all_wanted = access_timeline | access_range | access_pm | access_pc;

Ladder climb(const AccessReadings& r, unsigned wanted = all_wanted) {
  return choose_ladder(judge_access(r), wanted);
}

TEST(ChooseLadder, Rungs) {
  EXPECT_EQ(climb(good()).rung, "range and PM");
  EXPECT_TRUE(climb(good()).steps.empty());
  EXPECT_EQ(climb(good(), access_timeline | access_range).rung, "range");
  EXPECT_EQ(climb(good(), access_timeline).rung, "activity");
  EXPECT_EQ(climb(good(), 0).rung, "none");

  AccessReadings r = good();
  r.mps = true;
  EXPECT_EQ(climb(r).rung, "PM");
  EXPECT_FALSE(climb(r).grants(access_gpm));
  r.probes = {{"GPU-1", 26, "busy"}};
  EXPECT_EQ(climb(r).rung, "GPM");
  EXPECT_TRUE(climb(r).grants(access_timeline));
  r.nvml_why = "no NVML";
  EXPECT_EQ(climb(r).rung, "activity");
  r.driver.why = "no driver";
  EXPECT_EQ(climb(r).rung, "none");
  EXPECT_EQ(climb(r).granted, 0u);

  // GPM is no stand-in for what nobody wanted.
  r = good();
  r.mps = true;
  EXPECT_FALSE(climb(r, access_timeline | access_pc).grants(access_gpm));
}

TEST(ChooseLadder, EachStepHasReasonRemedyAndWhatIsLost) {
  AccessReadings r = good();
  r.driver_parameters = "RmProfilingAdminOnly: 1\n";
  const Ladder ladder = climb(r);
  EXPECT_EQ(ladder.rung, "GPM");
  ASSERT_EQ(ladder.steps.size(), 3u);
  for (const LadderStep& step : ladder.steps) {
    ASSERT_EQ(step.reasons.size(), 1u);
    EXPECT_EQ(step.reasons[0].rfind("permission: RmProfilingAdminOnly is 1", 0), 0u);
    EXPECT_EQ(step.remedies.size(), 1u);
    EXPECT_FALSE(step.lost.empty());
  }
  const Json json = to_json(ladder);
  EXPECT_EQ(json.at("rung"), "GPM");
  EXPECT_EQ(json.at("granted"), Json({"timeline", "gpm"}));
  EXPECT_EQ(json.at("steps").at(0).at("collector"), "range");
  EXPECT_EQ(json.at("steps").at(1).at("collector"), "pm");
  EXPECT_EQ(json.at("steps").at(2).at("collector"), "pc");
  EXPECT_EQ(json.at("steps").at(2).at("lost").size(), ladder.steps[2].lost.size());
  const auto lines = ladder.lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "counters: GPM");
  EXPECT_EQ(lines[1].rfind("no range: permission: RmProfilingAdminOnly is 1", 0), 0u) << lines[1];
  EXPECT_NE(lines[1].find("; lost: exact counts of single kernels"), std::string::npos);
  EXPECT_NE(lines[1].find("; remedy: run as root"), std::string::npos);
}

}  // namespace
}  // namespace warpmeter
