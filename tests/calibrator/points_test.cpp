// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/points.h"

#include <gtest/gtest.h>

#include "calibrator/draft.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

Measurement point(const Parameters& parameters, std::vector<std::vector<double>> samples) {
  Measurement measurement;
  measurement.quantity = "transfer.time";
  measurement.parameters = parameters;
  measurement.id = measurement_id(measurement.quantity, parameters);
  measurement.unit = Unit::second;
  measurement.value = campaign_median(samples);
  measurement.samples = std::move(samples);
  return measurement;
}

TEST(Points, SelectionKeepsUsableVerdictsAndNamesTheOthers) {
  warpmeter::Run run;
  run.measurements = {point({{"size", 1.0}}, {{1}}), point({{"size", 2.0}}, {{2}}),
                      point({{"size", 3.0}}, {{3}})};
  run.measurements[1].verdict = Verdict::contaminated;
  run.measurements[1].reason = "another process";
  run.measurements[2].verdict = Verdict::multimodal;
  const Selection selection = select(run, "transfer.time");
  EXPECT_EQ(ids(selection.usable),
            (std::vector<std::string>{"transfer.time/size=1", "transfer.time/size=3"}));
  ASSERT_EQ(selection.refused.size(), 1u);
  EXPECT_EQ(selection.refused[0], "transfer.time/size=2 (contaminated: another process)");
  EXPECT_NE(missing_reason({{}, selection.refused}, "x").find("size=2"), std::string::npos);
  EXPECT_EQ(missing_reason({}, "transfer.time"), "the runs hold no transfer.time");
}

TEST(Points, SeriesSortAlongXAndSplitByTheRest) {
  const Measurement a = point({{"size", 4.0}, {"direction", "h2d"}}, {{4}});
  const Measurement b = point({{"size", 2.0}, {"direction", "h2d"}}, {{2}});
  const Measurement c = point({{"size", 1.0}, {"direction", "d2h"}}, {{1}});
  const Measurement d = point({{"direction", "d2h"}}, {{1}});
  const auto series = series_along({&a, &b, &c, &d}, "size");
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(numbers(series[1].points, "size"), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(series[0].points), (std::vector<double>{1}));
}

TEST(Points, ReplicatesAreOneEstimatePerCampaign) {
  const Measurement a = point({{"size", 1.0}}, {{1, 1, 9}, {2, 2}, {3}});
  const Measurement b = point({{"size", 2.0}}, {{10}, {}, {20}, {30}});
  const Points both{&a, &b};
  EXPECT_EQ(campaign_count(both), 3u);
  const auto sum = [](const std::vector<double>& y) { return std::optional(y[0] + y[1]); };
  EXPECT_EQ(replicate(both, sum), (std::vector<double>{11, 22, 33}));
  EXPECT_TRUE(replicate(both, [](const auto&) { return std::optional<double>(); }).empty());
}

TEST(Points, WithoutSamplesThereIsOneReplicateAndNoInterval) {
  Measurement a = point({{"size", 1.0}}, {{5}});
  a.samples.clear();
  const auto replicates = replicate({&a}, [](const auto& y) { return std::optional(y[0]); });
  EXPECT_EQ(replicates, (std::vector<double>{5}));
  const Parameter parameter = from_replicates({}, Unit::second, replicates, "as is", {&a});
  EXPECT_EQ(parameter.value, 5);
  EXPECT_FALSE(parameter.interval);
}

TEST(Draft, CovarianceIsThatOfJointlyDrawnCampaigns) {
  Draft draft;
  draft.shared["a"] = {"one curve", {1, 2, 3, 4, 5}};
  draft.shared["b"] = {"one curve", {10, 20, 30, 40, 50}};
  draft.shared["c"] = {"other curve", {5, 4, 3, 2, 1}};
  draft.shared["d"] = {"other curve", {1, 2, 3, 4, 5}};
  draft.shared["alone"] = {"its own data", {1, 2, 3}};
  add_covariance(draft);
  const Covariance& covariance = draft.machine.covariance;
  EXPECT_EQ(covariance.names, (std::vector<std::string>{"a", "b", "c", "d"}));
  const auto& m = covariance.matrix;
  // b = 10 a in each campaign, so that also its median is; c falls as d rises.
  EXPECT_NEAR(m[0][1], 10 * m[0][0], 1e-9);
  EXPECT_NEAR(m[1][1], 100 * m[0][0], 1e-9);
  EXPECT_NEAR(m[2][3], -m[2][2], 1e-9);
  EXPECT_EQ(m[0][2], 0);
  // The median of five draws of 1..5 has variance 0.9824 exactly (P(median <= k) =
  // P(Binomial(5, k/5) >= 3) = 0.0579, 0.3174, 0.6826, 0.9421, 1).
  EXPECT_NEAR(m[0][0], 0.9824, 0.1);
}

}  // namespace
}  // namespace warpmeter
