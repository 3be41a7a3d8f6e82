// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// GeGLU, and gated units of packed matrices: edges, and counters against work models.
#include <cmath>

#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/geglu.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;

class Gated : public OnEmulatedGpu {
 protected:
  Counted geglu(const RowsShape& shape) {
    return run(geglu_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_geglu(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted geglu_packed(const RowsShape& shape) {
    return run(geglu_packed_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_geglu_packed(shape, p[0], p[1], stream);
    });
  }
  Counted swiglu_packed(const RowsShape& shape) {
    return run(swiglu_packed_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_swiglu_packed(shape, p[0], p[1], stream);
    });
  }
};

TEST_F(Gated, UnitsAreRightAtTheEdges) {
  for (const Element type : row_types)
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 7}, {1, 24}, {3, 1000}, {2, 2049}}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << rows << " x " << columns);
      geglu({rows, columns, type});
      geglu_packed({rows, columns, type});
      swiglu_packed({rows, columns, type});
    }
}

// The reference is another form of the published formula.
TEST(GegluReference, IsTheTanhForm) {
  for (const double x : {-2.0, -1.0, -0.3, 0.0, 0.1, 1.0, 3.0}) {
    const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(gelu_tanh(x), 0.5 * x * (1 + std::tanh(u)), 1e-14);
  }
}

class GatedCounters : public Gated, public testing::WithParamInterface<Element> {
 protected:
  static constexpr double elements = 64 * 2048;
  const RowsShape shape_{64, 2048, GetParam()};
  // Three products, a multiply-add, a sum; the exponential and the division.
  void expect_geglu(const Counted& counted) const {
    expect_compulsory_dram(counted, geglu_work(shape_));
    EXPECT_EQ(counted.of("fp32"), 5 * elements);
    EXPECT_EQ(counted.of("fp32") + 2 * elements, geglu_work(shape_).ops.at("f32"));
    EXPECT_EQ(counted.of("special_function"), geglu_work(shape_).ops.at("exp") + elements);
  }
};

TEST_P(GatedCounters, OfGeglu) { expect_geglu(geglu(shape_)); }
TEST_P(GatedCounters, OfPackedGeglu) { expect_geglu(geglu_packed(shape_)); }

TEST_P(GatedCounters, OfPackedSwiglu) {
  const Counted counted = swiglu_packed(shape_);
  expect_compulsory_dram(counted, swiglu_work(shape_));
  EXPECT_EQ(counted.of("fp32"), 3 * elements);
}

INSTANTIATE_TEST_SUITE_P(EachType, GatedCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
