// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/sampler.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter {
namespace {

const Sampler sampler({5, 20, 0.01, 1.0});

TEST(Sampler, WantsTheMinimumEvenWhenLate) {
  EXPECT_TRUE(sampler.wants_more(std::vector<double>{1, 1, 1, 1}, 100));
}

TEST(Sampler, StopsWhenSamplesAgree) {
  EXPECT_FALSE(sampler.wants_more(std::vector<double>{1, 1, 1, 1, 1}, 0));
}

TEST(Sampler, GoesOnWhileTheyDoNot) {
  EXPECT_TRUE(sampler.wants_more(std::vector<double>{1, 2, 1, 2, 1}, 0));
}

TEST(Sampler, StopsAtTheLimits) {
  EXPECT_FALSE(sampler.wants_more(std::vector<double>{1, 2, 1, 2, 1}, 1.0));
  std::vector<double> many;
  for (int i = 0; i < 20; ++i) many.push_back(i % 2 + 1);
  EXPECT_FALSE(sampler.wants_more(many, 0));
}

}  // namespace
}  // namespace warpmeter
