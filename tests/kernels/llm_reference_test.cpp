// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Each kernel on odd shapes against a naive computation in double precision that shares nothing
// with the kernel's own check but the operands.
#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/llm/attention.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

std::vector<double> values(const Operand& operand) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < operand.count; ++i) all.push_back(operand.at(i));
  return all;
}

void run(Kernel& kernel, const std::string& output) {
  poison(kernel.operand(output));
  kernel.execute();
  kernel.verify();
}

void expect_close(const Operand& actual, const std::vector<double>& expected, double relative,
                  double absolute) {
  ASSERT_EQ(actual.count, static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.at(static_cast<std::int64_t>(i)), expected[i],
                relative * std::abs(expected[i]) + absolute)
        << "element " << i;
}

TEST(GemmKernel, MultipliesOddShapes) {
  for (const Element type : testable_types())
    for (const auto& [m, n, k] : {std::array{1, 1, 1},
                                  {1, 17, 33},
                                  {3, 100, 7},
                                  {5, 16, 1},
                                  {2, 3, 300},
                                  {65, 31, 129},
                                  {1, 128, 2048}}) {
      SCOPED_TRACE(to_string(type) + " " + std::to_string(m) + " " + std::to_string(n) + " " +
                   std::to_string(k));
      const auto kernel = make_gemm({m, n, k, type}, 5);
      run(*kernel, "result");
      const Operand weights("plain", Role::input, type, std::int64_t{n} * k);
      fill_normal(weights, 6, 1 / std::sqrt(double(k)));
      const std::vector<double> a = values(kernel->operand("activations")), w = values(weights);
      std::vector<double> c;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += a[static_cast<std::size_t>(i * k + l)] * w[static_cast<std::size_t>(l * n + j)];
          c.push_back(sum);
        }
      expect_close(kernel->operand("result"), c, test_tolerance(type), 1e-5);
    }
}

std::vector<double> attend(const AttentionShape& s, const Kernel& kernel) {
  const std::vector<double> q = values(kernel.operand("q")), k = values(kernel.operand("k")),
                            v = values(kernel.operand("v"));
  std::vector<double> out(q.size());
  const auto size = static_cast<std::size_t>(s.head_size);
  for (std::size_t b = 0; b < static_cast<std::size_t>(s.batch); ++b)
    for (std::size_t h = 0; h < static_cast<std::size_t>(s.heads); ++h) {
      const auto kv = b * static_cast<std::size_t>(s.kv_heads) +
                      h / static_cast<std::size_t>(s.heads / s.kv_heads);
      const std::size_t at = (b * static_cast<std::size_t>(s.heads) + h) * size;
      double total = 0;
      for (std::size_t t = 0; t < static_cast<std::size_t>(s.context); ++t) {
        const std::size_t row = (kv * static_cast<std::size_t>(s.context) + t) * size;
        double score = 0;
        for (std::size_t i = 0; i < size; ++i) score += q[at + i] * k[row + i];
        const double weight = std::exp(score / std::sqrt(double(size)));
        total += weight;
        for (std::size_t i = 0; i < size; ++i) out[at + i] += weight * v[row + i];
      }
      for (std::size_t i = 0; i < size; ++i) out[at + i] /= total;
    }
  return out;
}

TEST(AttentionKernel, AttendsWithGroupedHeads) {
  for (const Element type : testable_types())
    for (const auto& [batch, heads, kv_heads, size, context] : {std::array{1, 1, 1, 1, 1},
                                                                {1, 2, 1, 8, 1},
                                                                {1, 4, 4, 16, 5},
                                                                {3, 6, 2, 20, 33},
                                                                {2, 8, 2, 128, 130},
                                                                {1, 32, 4, 128, 17}}) {
      const AttentionShape shape = {batch, heads, kv_heads, size, context, type};
      SCOPED_TRACE(to_string(type) + " context " + std::to_string(context));
      const auto kernel = make_attention(shape, 11);
      run(*kernel, "o");
      expect_close(kernel->operand("o"), attend(shape, *kernel), test_tolerance(type),
                   type == Element::bf16 ? 0.01 : 1e-5);
    }
}

const std::vector<RowsShape> odd_rows = {{1, 1}, {1, 37}, {3, 16}, {5, 100}, {2, 1000}};

TEST(SoftmaxKernel, SumsToOneAndKeepsRatios) {
  for (const Element type : testable_types())
    for (RowsShape shape : odd_rows) {
      shape.type = type;
      const auto kernel = make_softmax(shape, 3);
      run(*kernel, "y");
      std::vector<double> y = values(kernel->operand("x"));
      const auto columns = static_cast<std::size_t>(shape.columns);
      for (std::size_t row = 0; row < y.size(); row += columns) {
        double total = 0;
        for (std::size_t c = 0; c < columns; ++c) total += std::exp(y[row + c]);
        for (std::size_t c = 0; c < columns; ++c) y[row + c] = std::exp(y[row + c]) / total;
      }
      expect_close(kernel->operand("y"), y, 2 * test_tolerance(type) + 1e-5, 0);
    }
}

TEST(RmsNormKernel, DividesByTheRootMeanSquare) {
  for (const Element type : testable_types())
    for (RowsShape shape : odd_rows) {
      shape.type = type;
      SCOPED_TRACE(to_string(type) + " columns " + std::to_string(shape.columns));
      const auto kernel = make_rms_norm(shape, 3);
      run(*kernel, "y");
      std::vector<double> y = values(kernel->operand("x"));
      const std::vector<double> gain = values(kernel->operand("gain"));
      const auto columns = static_cast<std::size_t>(shape.columns);
      for (std::size_t row = 0; row < y.size(); row += columns) {
        double squares = 0;
        for (std::size_t c = 0; c < columns; ++c) squares += y[row + c] * y[row + c];
        for (std::size_t c = 0; c < columns; ++c)
          y[row + c] *= gain[c] / std::sqrt(squares / double(columns) + 1e-5);
      }
      expect_close(kernel->operand("y"), y, test_tolerance(type), 0);
    }
}

TEST(SwigluKernel, GatesByTheSigmoid) {
  for (const Element type : testable_types())
    for (RowsShape shape : odd_rows) {
      shape.type = type;
      const auto kernel = make_swiglu(shape, 3);
      run(*kernel, "y");
      std::vector<double> y = values(kernel->operand("gate"));
      const std::vector<double> up = values(kernel->operand("up"));
      for (std::size_t i = 0; i < y.size(); ++i) y[i] *= up[i] / (1 + std::exp(-y[i]));
      expect_close(kernel->operand("y"), y, test_tolerance(type) + 1e-6, 0);
    }
}

TEST(GatherKernel, CopiesDifferentRows) {
  for (const Element type : {Element::f32, Element::bf16})
    for (const auto& [rows, columns, vocabulary] :
         {std::array{1, 1, 1}, {3, 5, 3}, {7, 33, 1000}}) {
      const auto kernel = make_gather({rows, columns, vocabulary, type}, 9);
      run(*kernel, "y");
      const std::vector<double> ids = values(kernel->operand("ids"));
      EXPECT_EQ(std::set<double>(ids.begin(), ids.end()).size(), ids.size());
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
          const std::int64_t source =
              static_cast<std::int64_t>(ids[static_cast<std::size_t>(r)]) * columns + c;
          EXPECT_EQ(kernel->operand("y").at(r * columns + c), kernel->operand("table").at(source));
          EXPECT_NE(kernel->operand("table").at(source), 0);
        }
    }
}

TEST(OperandFill, IsNormalAndReproducible) {
  const Operand a("a", Role::input, Element::f32, 1 << 18), b("b", Role::input, Element::f32, 99);
  fill_normal(a, 7, 2.5);
  fill_normal(b, 7, 2.5);
  double sum = 0, squares = 0, fourth = 0;
  for (const double v : values(a)) {
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
  }
  const auto n = double(a.count);
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 2.5, 0.01);
  EXPECT_NEAR(fourth / n / std::pow(squares / n, 2), 2.7, 0.05);  // 3 - 1.2 / 4 uniform terms
  for (std::int64_t i = 0; i < b.count; ++i) EXPECT_EQ(a.at(i), b.at(i));
  fill_normal(b, 8, 2.5);
  EXPECT_NE(a.at(0), b.at(0));
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0f)), 1.0f);
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0f + 0x1p-8f)), 1.0f);                // a tie, to even
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // a tie, to even
  EXPECT_EQ(bf16_to_float(float_to_bf16(1.0f + 0x1.1p-8f)), 1.0f + 0x1p-7f);
  EXPECT_EQ(bf16_to_float(float_to_bf16(-3.0e38f)), -bf16_to_float(float_to_bf16(3.0e38f)));
}

}  // namespace
}  // namespace warpmeter
