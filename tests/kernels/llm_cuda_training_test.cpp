// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA kernels of training: their references against independent truth, each type, odd sizes,
// and counters against work models.
#include <cmath>

#include "kernels/llm/cross_entropy.h"
#include "kernels/llm/cuda/launch_training.h"
#include "kernels/llm/cuda/training_problems.h"
#include "kernels/llm/rms_norm_backward.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;
using Values = std::vector<double>;

// sum_c dy[c] y[c] of the norm, whose derivatives the gradients are.
double norm_loss(const Values& x, const Values& gain, const Values& dy) {
  double squares = 0, loss = 0;
  for (const double value : x) squares += value * value;
  for (std::size_t c = 0; c < x.size(); ++c)
    loss += dy[c] * gain[c] * x[c] /
            std::sqrt(squares / static_cast<double>(x.size()) + double{rms_epsilon});
  return loss;
}

// (f(v + h) - f(v - h)) / 2 h of element c; its error is of the order of h^2.
template <class F>
double slope(Values values, std::size_t c, F f) {
  constexpr double h = 1e-4;
  const double middle = values[c];
  values[c] = middle + h;
  const double above = f(values);
  values[c] = middle - h;
  return (above - f(values)) / (2 * h);
}

TEST(TrainingReference, OfRmsNormAgreesWithFiniteDifferences) {
  const Values x = {0.3, -1.2, 2.5, 0.01, -0.7}, gain = {1.1, -0.4, 0.9, 2, 0.5},
               dy = {-0.6, 0.8, 0.2, -1.5, 1};
  const RmsNormRow row = rms_norm_gradients(x, gain, dy);
  for (std::size_t c = 0; c < x.size(); ++c) {
    EXPECT_NEAR(row.dx[c], slope(x, c, [&](const Values& v) { return norm_loss(v, gain, dy); }),
                1e-7);
    EXPECT_NEAR(row.dgain[c], slope(gain, c, [&](const Values& v) { return norm_loss(x, v, dy); }),
                1e-7);
  }
}

TEST(TrainingReference, OfCrossEntropyAgreesWithFiniteDifferences) {
  const Values logits = {0.3, -1.2, 2.5, 0.01};
  for (std::size_t target = 0; target < logits.size(); ++target) {
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    const auto row = cross_entropy_row(logits, static_cast<std::int64_t>(target));
    EXPECT_NEAR(row.loss, -std::log(std::exp(logits[target]) / sum), 1e-14);
    for (std::size_t c = 0; c < logits.size(); ++c)
      EXPECT_NEAR(row.gradient[c],
                  slope(logits, c,
                        [&](const Values& v) {
                          return cross_entropy_row(v, static_cast<std::int64_t>(target)).loss;
                        }),
                  1e-7);
  }
}

// With m = v = 0 the first step's mean is g and its square g^2, whatever the betas.
TEST(TrainingReference, OfTheFirstAdamStepIsTheRateInTheGradientsDirection) {
  const AdamFactors factors = adam_factors(1);
  for (const double g : {2.0, -0.03}) {
    const AdamElement after = adam_element(factors, {0.5, 0, 0}, g);
    EXPECT_NEAR(after.w, 0.5 - 3e-4 * ((g > 0 ? 1 : -1) + 0.1 * 0.5), 1e-9);
    EXPECT_NEAR(after.m, 0.1 * g, 1e-7);
    EXPECT_NEAR(after.v, 0.05 * g * g, 1e-7);
  }
}

// The same gradient at each step keeps mean and square at g and g^2, if corrections grow as they
// should.
TEST(TrainingReference, OfAdamCorrectsEachStep) {
  AdamElement element{0, 0, 0};
  for (int step = 1; step <= 20; ++step) {
    element = adam_element(adam_factors(step), element, 0.5);
    EXPECT_NEAR(element.m * adam_factors(step).mean_correction, 0.5, 1e-6) << step;
    EXPECT_NEAR(element.v * adam_factors(step).square_correction, 0.25, 1e-6) << step;
  }
}

class Training : public OnEmulatedGpu {
 protected:
  Counted rms_norm_backward(const RowsShape& shape) {
    return run(rms_norm_backward_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rms_norm_backward(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
    });
  }
  Counted adam(const RowsShape& shape) {
    return run(adam_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_adam(shape, adam_factors(adam_timed_step), p[0], p[1], p[2], p[3], p[4], stream);
    });
  }
  Counted cross_entropy(const RowsShape& shape, Problem problem) {
    const float scale = cross_entropy_scale(shape);
    return run(std::move(problem), [=](Operands p, cudaStream_t stream) {
      launch_cross_entropy(shape, p[0], p[1], p[2], p[3], scale, stream);
    });
  }
};

std::string text(const RowsShape& shape) {
  return to_string(shape.type) + " " + std::to_string(shape.rows) + " x " +
         std::to_string(shape.columns);
}

TEST_F(Training, RmsNormBackwardIsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const auto& [rows, columns] : {std::pair{1, 1},
                                        {3, 7},
                                        {300, 24},
                                        {2, 1000},
                                        {3, 2049},
                                        {1, 8191},
                                        {2, 8192},
                                        {515, 33}}) {
      const RowsShape shape{rows, columns, type};
      SCOPED_TRACE(text(shape));
      rms_norm_backward(shape);
    }
}

// Less than a vector, several parts, all threads; targets first and last; one row ignored.
TEST_F(Training, CrossEntropyIsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const std::int64_t columns : {1, 7, 24, 1000, 2049, 20008}) {
      const RowsShape shape{4, columns, type};
      SCOPED_TRACE(text(shape));
      Problem problem = cross_entropy_problem(shape, 3);
      std::int32_t* targets = problem.operands[1].i32();
      targets[0] = 0;
      targets[1] = static_cast<std::int32_t>(columns) - 1;
      targets[2] = ignored_target;
      cross_entropy(shape, std::move(problem));
    }
}

// Equal logits: every term of the gradient is known, and so is the loss.
TEST_F(Training, CrossEntropyOfEqualLogitsIsTheLogarithmOfTheirNumber) {
  const RowsShape shape{2, 4096, Element::f32};
  Problem problem = cross_entropy_problem(shape, 3);
  std::fill_n(problem.operands[0].f32(), 2 * 4096, -7.5f);
  std::fill_n(problem.operands[1].i32(), 2, 5);
  const Operand &loss = problem.operands[2], &gradient = problem.operands[3];
  problem.verify = [&] {
    for (std::int64_t row = 0; row < 2; ++row) {
      EXPECT_NEAR(loss.at(row), std::log(4096), 1e-5);
      EXPECT_NEAR(gradient.at(row * 4096 + 5), 0.5 * (1.0 / 4096 - 1), 1e-7);
      EXPECT_NEAR(gradient.at(row * 4096 + 6), 0.5 / 4096, 1e-9);
    }
  };
  cross_entropy(shape, std::move(problem));
}

// Fewer than eight, whole eights, some after them, several blocks.
TEST_F(Training, AdamIsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 7}, {3, 8}, {7, 301}, {3, 2051}}) {
      const RowsShape shape{rows, columns, type};
      SCOPED_TRACE(text(shape));
      adam(shape);
    }
}

class TrainingCounters : public Training, public testing::WithParamInterface<Element> {};

TEST_P(TrainingCounters, OfRmsNormBackward) {
  const RowsShape shape{64, 1024, GetParam()};
  const double elements = 64 * 1024, blocks = 64, threads = 128;
  const Counted counted = rms_norm_backward(shape);
  Work work = rms_norm_backward_work(shape);
  work.bytes_written += 4 * 1024 * blocks;  // L2 keeps the blocks' sums for the second kernel
  expect_compulsory_dram(counted, work);
  // Four products and four multiply-adds (g dy is formed twice). Each thread of each row: two
  // reductions, epsilon, three products and a change of sign. The sums of the blocks.
  EXPECT_EQ(counted.of("fp32"), 8 * elements + 64 * threads * 25 + 1024 * (blocks + 31));
}

TEST_P(TrainingCounters, OfCrossEntropy) {
  const RowsShape shape{12, 4096, GetParam()};
  const double elements = 12 * 4096, threads = 12 * 256;
  const auto vectors = static_cast<double>(bytes_of(GetParam()));  // of a thread's 16 elements
  const Counted counted = cross_entropy(shape, cross_entropy_problem(shape, 3));
  expect_compulsory_dram(counted, cross_entropy_work(shape));
  // Maximum, multiply-add, sum, and again multiply-add, product. Each thread: two reductions, two
  // to rescale its sum at each vector and three at the end. Each row: loss and the target's
  // gradient.
  EXPECT_EQ(counted.of("fp32"), 5 * elements + threads * (23 + 2 * vectors) + 12 * 19);
  // Both passes take each exponential. Each thread: rescaling, a division; the target's again.
  EXPECT_EQ(counted.of("special_function"),
            2 * cross_entropy_work(shape).ops.at("exp") + threads * (vectors + 2) + 12);
}

TEST_P(TrainingCounters, OfAdam) {
  const RowsShape shape{32, 1000, GetParam()};
  const double elements = 32 * 1000;
  const Counted counted = adam(shape);
  expect_compulsory_dram(counted, adam_work(shape));
  // Six products and additions, four multiply-adds, and a change of sign, which machine code makes
  // part of one; square root and division.
  EXPECT_EQ(counted.of("fp32"), 11 * elements);
  EXPECT_EQ(counted.of("special_function"), 2 * elements);
}

INSTANTIATE_TEST_SUITE_P(EachType, TrainingCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
