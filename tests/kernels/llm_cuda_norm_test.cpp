// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// LayerNorm, and both norms with a residual: edges, and counters against work models.
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/layer_norm.h"
#include "kernels/llm/residual.h"
#include "kernels/llm/rms_norm.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;

class Norms : public OnEmulatedGpu {
 protected:
  Counted rms_norm_residual(const RowsShape& shape) {
    return run(rms_norm_residual_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rms_norm_residual(shape, p[0], p[1], p[2], p[3], p[4], stream);
    });
  }
  Counted layer_norm(const RowsShape& shape) {
    return run(layer_norm_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_layer_norm(shape, p[0], p[1], p[2], p[3], stream);
    });
  }
  Counted layer_norm_residual(const RowsShape& shape) {
    return run(layer_norm_residual_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_layer_norm_residual(shape, p[0], p[1], p[2], p[3], p[4], p[5], stream);
    });
  }
};

TEST_F(Norms, AreRightAtTheEdges) {
  for (const Element type : row_types)
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 7}, {1, 24}, {3, 1000}, {2, 2049}}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << rows << " x " << columns);
      const RowsShape shape{rows, columns, type};
      rms_norm_residual(shape);
      layer_norm(shape);
      layer_norm_residual(shape);
    }
  layer_norm_residual({1, columns_in_registers, Element::f32});
}

// With E elements and T threads, a reduction costs each thread ten additions (llm_cuda_rows_test).
class NormCounters : public Norms, public testing::WithParamInterface<Element> {
 protected:
  static constexpr double elements = 64 * 2048, threads = 64 * 2048 / 16;
  const RowsShape shape_{64, 2048, GetParam()};
};

TEST_P(NormCounters, OfRmsNormResidual) {
  const Counted counted = rms_norm_residual(shape_);
  expect_compulsory_dram(counted, with_residual(rms_norm_work(shape_), shape_));
  // A sum more than RMSNorm.
  EXPECT_EQ(counted.of("fp32"), 4 * elements + 11 * threads);
}

TEST_P(NormCounters, OfLayerNorm) {
  const Counted counted = layer_norm(shape_);
  expect_compulsory_dram(counted, layer_norm_work(shape_));
  // A sum, a deviation, a multiply-add, a product, a multiply-add; two reductions; epsilon.
  EXPECT_EQ(counted.of("fp32"), 5 * elements + 21 * threads);
}

TEST_P(NormCounters, OfLayerNormResidual) {
  const Counted counted = layer_norm_residual(shape_);
  expect_compulsory_dram(counted, with_residual(layer_norm_work(shape_), shape_));
  EXPECT_EQ(counted.of("fp32"), 6 * elements + 21 * threads);
}

INSTANTIATE_TEST_SUITE_P(EachType, NormCounters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
