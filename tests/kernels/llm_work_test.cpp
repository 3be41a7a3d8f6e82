// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Work formulas against counts: the operations of a naive algorithm on numbers that count
// themselves, and the memory that the real kernels allocate.
#include <cmath>

#include "kernels/llm/attention.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

std::map<std::string, double> counts;

// f32 arithmetic that counts itself.
struct Counted {
  double value = 0;
  Counted operation(double result) const {
    counts["f32"] += 1;
    return {result};
  }
  Counted operator-() const { return operation(-value); }
  Counted operator+(Counted b) const { return operation(value + b.value); }
  Counted operator-(Counted b) const { return operation(value - b.value); }
  Counted operator*(Counted b) const { return operation(value * b.value); }
  Counted operator/(Counted b) const { return operation(value / b.value); }
};
Counted max(Counted a, Counted b) { return a.operation(std::max(a.value, b.value)); }
Counted sqrt(Counted a) { return a.operation(std::sqrt(a.value)); }
Counted exp(Counted a) {
  counts["exp"] += 1;
  return {std::exp(a.value)};
}
void multiply_add(Element type) { counts[to_string(type)] += 2; }

void softmax_row(std::vector<Counted> x) {
  Counted top = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) top = max(top, x[i]);
  for (Counted& value : x) value = exp(value - top);
  Counted total = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) total = total + x[i];
  const Counted inverse = Counted{1} / total;
  for (Counted& value : x) value = value * inverse;
}

// Bytes of the operands with this role.
double bytes(const Kernel& kernel, Role role) {
  double sum = 0;
  for (const Operand& operand : kernel.operands())
    if (operand.role == role)
      sum += static_cast<double>(operand.count) * static_cast<double>(bytes_of(operand.type));
  return sum;
}

void expect_memory(const Work& work, const Kernel& kernel) {
  EXPECT_EQ(work.bytes_read, bytes(kernel, Role::input));
  EXPECT_EQ(work.bytes_written, bytes(kernel, Role::output));
  EXPECT_EQ(work.working_set, work.bytes_read + work.bytes_written + bytes(kernel, Role::scratch));
}

TEST(GemmWork, EqualsCounts) {
  for (const Element type : testable_types()) {
    const GemmShape shape = {3, 5, 7, type};
    counts.clear();
    for (int i = 0; i < 3 * 5 * 7; ++i) multiply_add(type);
    EXPECT_EQ(gemm_work(shape).ops, counts);
    EXPECT_EQ(gemm_work(shape).launches, 1);
    expect_memory(gemm_work(shape), *make_gemm(shape, 1));
  }
}

TEST(AttentionWork, EqualsCounts) {
  for (const Element type : testable_types()) {
    const AttentionShape shape = {2, 6, 3, 4, 5, type};
    counts.clear();
    for (int head = 0; head < 2 * 6; ++head) {
      std::vector<Counted> scores(5);
      for (Counted& score : scores) {
        for (int i = 0; i < 4; ++i) multiply_add(type);
        score = score * Counted{0.5};
      }
      softmax_row(scores);
      for (int i = 0; i < 5 * 4; ++i) multiply_add(type);
    }
    EXPECT_EQ(attention_work(shape).ops, counts);
    EXPECT_EQ(attention_work(shape).launches, 3);
    expect_memory(attention_work(shape), *make_attention(shape, 1));
  }
}

TEST(SoftmaxWork, EqualsCounts) {
  const RowsShape shape = {3, 7, Element::f32};
  counts.clear();
  for (int row = 0; row < 3; ++row) softmax_row(std::vector<Counted>(7));
  EXPECT_EQ(softmax_work(shape).ops, counts);
  expect_memory(softmax_work(shape), *make_softmax(shape, 1));
}

TEST(RmsNormWork, EqualsCounts) {
  const RowsShape shape = {3, 7, Element::f32};
  counts.clear();
  for (int row = 0; row < 3; ++row) {
    for (int c = 0; c < 7; ++c) multiply_add(Element::f32);
    const Counted scale = Counted{1} / sqrt(Counted{1} / Counted{7} + Counted{1e-5});
    for (int c = 0; c < 7; ++c) (void)(Counted{2} * scale * Counted{3});
  }
  EXPECT_EQ(rms_norm_work(shape).ops, counts);
  expect_memory(rms_norm_work(shape), *make_rms_norm(shape, 1));
}

TEST(SwigluWork, EqualsCounts) {
  const RowsShape shape = {3, 7, Element::f32};
  counts.clear();
  for (int i = 0; i < 3 * 7; ++i) {
    const Counted gate{0.5}, up{2};
    (void)(gate / (Counted{1} + exp(-gate)) * up);
  }
  EXPECT_EQ(swiglu_work(shape).ops, counts);
  const auto kernel = make_swiglu(shape, 1);
  Work work = swiglu_work(shape);
  work.bytes_read += 4;  // the broadcast 1, which is not part of the function
  work.working_set += 4;
  expect_memory(work, *kernel);
}

TEST(GatherWork, CountsOnlyTheRowsThatAreRead) {
  const GatherShape shape = {3, 7, 1000, Element::bf16};
  const auto kernel = make_gather(shape, 1);
  const Work work = gather_work(shape);
  EXPECT_TRUE(work.ops.empty());
  double touched = 0;
  for (const Bytes& range : kernel->touched()) touched += static_cast<double>(range.size());
  EXPECT_EQ(work.working_set, touched);
  EXPECT_EQ(work.bytes_written, bytes(*kernel, Role::output));
  EXPECT_EQ(work.bytes_read, touched - work.bytes_written);
}

}  // namespace
}  // namespace warpmeter
