// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/summary.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/microbench/fake_benchmark.h"

namespace warpmeter {
namespace {

Campaign campaign(std::vector<double> samples, Verdict verdict = Verdict::ok,
                  const std::string& reason = "") {
  Campaign out;
  out.samples = std::move(samples);
  out.verdict = verdict;
  out.reason = reason;
  return out;
}

Campaign noisy(double center, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(center, center * 1e-3);
  Campaign out;
  for (int i = 0; i < 15; ++i) out.samples.push_back(noise(random));
  return out;
}

Measurement summarize_these(const std::vector<Campaign>& campaigns,
                            std::optional<double> limit = std::nullopt) {
  return summarize_campaigns(fake_row("q", 1, nullptr), {{"x", 1.0}}, campaigns, limit);
}

TEST(Summarize, GivesMedianIntervalAndSamples) {
  const Measurement m =
      summarize_these({campaign({1, 2, 3}), campaign({2, 2, 2}), campaign({2, 3, 2})});
  EXPECT_EQ(m.id, "q/x=1");
  EXPECT_EQ(m.value, 2);
  EXPECT_EQ(m.samples.size(), 3u);
  EXPECT_TRUE(m.interval.has_value());
  EXPECT_EQ(m.verdict, Verdict::ok);
}

TEST(Summarize, OneCampaignHasNoInterval) {
  const Measurement m = summarize_these({campaign({1, 1, 1})});
  EXPECT_FALSE(m.interval.has_value());
  EXPECT_EQ(m.reason, "one campaign only: no interval");
}

TEST(Summarize, KeepsValuesOfBadVerdicts) {
  const Measurement m = summarize_these({noisy(1, 1), noisy(1, 2), noisy(1, 3)}, 0.9);
  EXPECT_EQ(m.verdict, Verdict::above_limit);
  EXPECT_NEAR(*m.value, 1, 0.01);
  EXPECT_EQ(summarize_these({noisy(1, 1), noisy(1, 2)}, 0.99).verdict, Verdict::ok);  // within 2 %
}

TEST(Summarize, OfNoSamplesIsNullWithTheReason) {
  const Measurement m = summarize_these({campaign({}, Verdict::unsupported, "no GPU")});
  EXPECT_FALSE(m.value.has_value());
  EXPECT_EQ(m.verdict, Verdict::unsupported);
  EXPECT_EQ(m.reason, "no GPU");
}

TEST(Summarize, OneFailedCampaignFailsThePoint) {
  const Measurement m = summarize_these(
      {noisy(1, 1), campaign({}, Verdict::failed, "corrupt: wrong sum"), noisy(1, 2)});
  EXPECT_EQ(m.verdict, Verdict::failed);
  EXPECT_EQ(m.reason, "corrupt: wrong sum");
  EXPECT_TRUE(m.value.has_value());
}

TEST(Summarize, HalfOfTheCampaignsDisturbedIsContaminated) {
  Campaign disturbed = noisy(1, 7);
  disturbed.verdict = Verdict::contaminated;
  disturbed.reason = "other processes";
  EXPECT_EQ(summarize_these({noisy(1, 1), noisy(1, 2), disturbed}).verdict, Verdict::ok);
  EXPECT_EQ(summarize_these({noisy(1, 1), disturbed}).verdict, Verdict::contaminated);
}

Campaign at_clock(double clock_hz, unsigned seed) {
  Campaign out = noisy(1, seed);
  out.conditions["clock_hz"] = clock_hz;
  return out;
}

TEST(Summarize, SeesAClockThatFellButNotOneLowReading) {
  EXPECT_EQ(summarize_these({at_clock(3.0e9, 1), at_clock(2.7e9, 2), at_clock(2.7e9, 3)}).verdict,
            Verdict::throttled);
  EXPECT_EQ(summarize_these({at_clock(3.0e9, 1), at_clock(2.7e9, 2), at_clock(3.0e9, 3)}).verdict,
            Verdict::ok);
}

Campaign ramp(double change) {
  Campaign out;
  for (int i = 0; i < 15; ++i) out.samples.push_back(1 + change * i / 14);
  return out;
}

TEST(Summarize, SeesARampThatAllCampaignsShow) {
  EXPECT_EQ(summarize_these({ramp(0.15), ramp(0.15), ramp(0.15)}).verdict, Verdict::ramping);
  EXPECT_NE(summarize_these({ramp(0.15), ramp(0.15), ramp(-0.15)}).verdict, Verdict::ramping);
  EXPECT_EQ(summarize_these({ramp(0.15), ramp(0.15), noisy(1.07, 1)}).verdict, Verdict::ok);
}

TEST(Summarize, SeesTwoModesAndKeepsThem) {
  std::vector<Campaign> campaigns = {noisy(1, 1), noisy(1, 2), noisy(1, 3)};
  for (Campaign& c : campaigns) {
    for (std::size_t i = 0; i < c.samples.size(); i += 3) c.samples[i] *= 1.5;
  }
  const Measurement m = summarize_these(campaigns);
  EXPECT_EQ(m.verdict, Verdict::multimodal);
  EXPECT_NEAR(m.conditions.at("modes")[1].get<double>(), 1.5, 0.01);
}

TEST(Summarize, CampaignsThatDisagreeAreUnstable) {
  EXPECT_EQ(summarize_these({noisy(1, 1), noisy(1.4, 2), noisy(0.7, 3)}).verdict,
            Verdict::unstable);
}

TEST(Summarize, GivesMediansOfWhatCampaignsNoted) {
  const Measurement m =
      summarize_these({at_clock(3.0e9, 1), at_clock(2.9e9, 2), at_clock(2.95e9, 3)});
  EXPECT_EQ(m.conditions.at("clock_hz").get<double>(), 2.95e9);
  EXPECT_EQ(m.conditions.at("campaigns").size(), 3u);
}

TEST(Contention, NamesWhatDisturbed) {
  EXPECT_EQ(describe_contention({1.0, 0.05, 0.01, 0.1}), "");
  EXPECT_NE(describe_contention({1.0, 0.12, 0, 0}).find("waited for a core 12 %"),
            std::string::npos);
  EXPECT_NE(describe_contention({1.0, 0, 0.10, 0}).find("hypervisor"), std::string::npos);
  EXPECT_NE(describe_contention({1.0, 0, 0, 0.9}).find("other processes kept 90 %"),
            std::string::npos);
  EXPECT_EQ(describe_contention({0.05, 0, 0.01, 0.02}), "");  // below the clock tick's resolution
}

}  // namespace
}  // namespace warpmeter
