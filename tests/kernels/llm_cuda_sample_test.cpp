// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Sampling against sorted logits in double, tokens known beforehand, and counters.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/sample.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class Sampling : public OnEmulatedGpu {
 protected:
  Counted sample(const SampleShape& shape, Problem problem) {
    return run(std::move(problem), [=](std::span<void* const> p, cudaStream_t stream) {
      launch_sample(shape, p[0], p[1], p[2], stream);
    });
  }

  // Tokens for uniform numbers in the middle of `rows` equal parts of [0, 1), all of the same
  // logits.
  std::vector<int> stratified(SampleShape shape, const std::vector<float>& logits, int rows) {
    shape.rows = rows;
    shape.vocabulary = std::ssize(logits);
    Problem problem = sample_problem(shape, 3);
    for (int row = 0; row < rows; ++row) {
      std::copy(logits.begin(), logits.end(), problem.operands[0].f32() + row * shape.vocabulary);
      problem.operands[1].f32()[row] = (static_cast<float>(row) + 0.5f) / static_cast<float>(rows);
    }
    std::vector<int> drawn;
    const Operand& tokens = problem.operands[2];
    problem.verify = [check = problem.verify, &tokens, &drawn] {
      check();
      drawn.assign(tokens.i32(), tokens.i32() + tokens.count);
    };
    sample(shape, std::move(problem));
    return drawn;
  }
};

constexpr float infinite = std::numeric_limits<float>::infinity();

TEST_F(Sampling, IsRightAtTheEdges) {
  struct Kept {
    std::int64_t top_k;
    double top_p, temperature;
  };
  // All; one; few; more than there are; top_p alone; both; nearly all, nearly none.
  const Kept kept[] = {{0, 1, 1},     {1, 1, 1},    {5, 1, 0.5},      {5000, 0.9, 1},
                       {0, 0.9, 0.6}, {20, 0.5, 2}, {0, 0.999999, 1}, {0, 1e-9, 1}};
  for (const std::int64_t vocabulary : {1, 7, 1025, 4100})
    for (const auto& [top_k, top_p, temperature] : kept) {
      SCOPED_TRACE(testing::Message() << vocabulary << ": " << top_k << " " << top_p);
      const SampleShape shape{2, vocabulary, top_k, top_p, temperature};
      sample(shape, sample_problem(shape, 3));
    }
}

TEST_F(Sampling, TakesTheEndsOfTheUniformNumber) {
  const SampleShape shape{2, 1500, 0, 1, 1};
  Problem problem = sample_problem(shape, 3);
  problem.operands[1].f32()[0] = 0;
  problem.operands[1].f32()[1] = 1 - 0x1p-24f;
  sample(shape, std::move(problem));
}

// Equal logits come by rising ids; 0 and -0 are equal.
TEST_F(Sampling, KeepsTheFirstOfEqualTokens) {
  const std::vector<float> equal = {-0.0f, 0.0f, -0.0f, 0.0f, 0.0f, -0.0f};
  const std::vector<int> three = {0, 0, 1, 1, 2, 2};
  EXPECT_EQ(stratified({.top_k = 3}, equal, 6), three);
  EXPECT_EQ(stratified({.top_p = 0.49}, equal, 6), three);
  EXPECT_EQ(stratified({.top_k = 1}, std::vector<float>(1100, 2.5f), 2), (std::vector<int>{0, 0}));
  // The larger logit first, then the first two of the equal ones.
  EXPECT_EQ(stratified({.top_k = 3, .temperature = 1e6}, {1, 1, 2, 1, 1}, 3),
            (std::vector<int>{0, 1, 2}));
}

TEST_F(Sampling, NeverTakesWhatIsMasked) {
  const std::vector<float> logits = {-infinite, 1, -infinite, 1, -infinite};
  EXPECT_EQ(stratified({}, logits, 4), (std::vector<int>{1, 1, 3, 3}));
  EXPECT_EQ(stratified({.top_k = 4, .top_p = 0.99}, logits, 4), (std::vector<int>{1, 1, 3, 3}));
}

TEST_F(Sampling, TakesTheLargestForTopOneAtEveryPlace) {
  for (const std::size_t place : {0, 1, 1023, 1024, 4095, 4096, 4999}) {
    std::vector<float> logits(5000, -1.0f);
    logits[place] = -0.5f;
    EXPECT_EQ(stratified({.top_k = 1}, logits, 1)[0], static_cast<int>(place));
  }
}

// Parts of [0, 1): each token is drawn as often as its probability says, but for one at each end.
// Also for logits whose exponentials no f32 holds.
TEST_F(Sampling, DrawsByProbability) {
  constexpr int rows = 60, count = 37;
  for (const float offset : {300.0f, -300.0f}) {
    std::vector<float> logits;
    std::vector<double> weights;
    double total = 0;
    for (int i = 0; i < count; ++i) {
      logits.push_back(offset + static_cast<float>(i * 7 % count) / 10);
      weights.push_back(std::exp((double{logits.back()} - double{offset}) / 0.7));
      total += weights.back();
    }
    std::vector<int> drawn(count);
    for (const int token : stratified({.temperature = 0.7}, logits, rows))
      ++drawn[static_cast<std::size_t>(token)];
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_NEAR(drawn[i], rows * weights[i] / total, 1.001) << offset << " " << i;
  }
}

TEST_F(Sampling, ReadsLogitsFromMemoryOnce) {
  const SampleShape shape{4, 16384, 20, 0.9, 1};
  const Counted counted = sample(shape, sample_problem(shape, 3));
  EXPECT_NEAR(counted.dram_read, sample_work(shape).bytes_read,
              0.02 * sample_work(shape).bytes_read);
  EXPECT_EQ(counted.launches, 1);
}

// Without cuts: an exponential per token for the total, and one for those up to the drawn one.
TEST_F(Sampling, TakesTheExponentialsOfTheModelTwice) {
  const SampleShape shape{2, 8192, 0, 1, 1};
  Problem problem = sample_problem(shape, 3);
  for (const int row : {0, 1}) problem.operands[1].f32()[row] = 1 - 0x1p-24f;
  const Counted counted = sample(shape, std::move(problem));
  EXPECT_EQ(counted.of("special_function"), 2 * sample_work(shape).ops.at("exp"));
}

}  // namespace
}  // namespace warpmeter
