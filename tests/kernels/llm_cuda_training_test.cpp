// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA kernels of training: their references against independent truth, each type, odd sizes,
// and counters against work models.
#include <cmath>

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

class Training : public OnEmulatedGpu {
 protected:
  Counted rms_norm_backward(const RowsShape& shape) {
    return run(rms_norm_backward_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rms_norm_backward(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
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

INSTANTIATE_TEST_SUITE_P(EachType, TrainingCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
