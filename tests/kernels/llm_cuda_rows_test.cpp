// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The CUDA kernels on rows: each type, odd and single rows, and counters against work models.
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/rope.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;

class RowKernels : public OnEmulatedGpu {
 protected:
  Counted rms_norm(const RowsShape& shape) {
    return run(rms_norm_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rms_norm(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted softmax(const RowsShape& shape) {
    return run(softmax_problem(shape, 3),
               [=](Operands p, cudaStream_t stream) { launch_softmax(shape, p[0], p[1], stream); });
  }
  Counted swiglu(const RowsShape& shape) {
    return run(swiglu_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_swiglu(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted gather(const GatherShape& shape) {
    return run(gather_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_gather(shape, p[0], p[1], p[2], stream);
    });
  }
  Counted rope(const RopeShape& shape) {
    return run(rope_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rope(shape, p[0], p[1], p[2], p[3], p[4], stream);
    });
  }
  Counted rope_packed(const RopeShape& shape) {
    return run(rope_packed_problem(shape, 3), [=](Operands p, cudaStream_t stream) {
      launch_rope(shape, p[0], p[1], p[2], p[3], p[0], stream);
    });
  }

  // One element, fewer than a vector's, than a warp's, whole vectors, odd ones, several parts.
  static std::vector<RowsShape> edges() {
    std::vector<RowsShape> shapes;
    for (const Element type : row_types)
      for (const std::int64_t columns : {1, 7, 24, 1000, 2049, 4096})
        for (const std::int64_t rows : {1, 3})
          if (rows == 3 || type != Element::f16) shapes.push_back({rows, columns, type});
    return shapes;
  }
};

std::string text(const RowsShape& shape) {
  return to_string(shape.type) + " " + std::to_string(shape.rows) + " x " +
         std::to_string(shape.columns);
}

TEST_F(RowKernels, RmsNormIsRightAtTheEdges) {
  for (const RowsShape& shape : edges()) {
    SCOPED_TRACE(text(shape));
    rms_norm(shape);
  }
  rms_norm({1, columns_in_registers, Element::f32});
  rms_norm({1, columns_in_registers, Element::bf16});
}

TEST_F(RowKernels, SoftmaxIsRightAtTheEdges) {
  for (const RowsShape& shape : edges()) {
    SCOPED_TRACE(text(shape));
    softmax(shape);
  }
  for (const std::int64_t columns : {columns_in_registers, columns_in_registers + 1}) {
    softmax({1, columns, Element::f32});
    softmax({2, columns, Element::bf16});
  }
}

TEST_F(RowKernels, SwigluIsRightAtTheEdges) {
  for (const RowsShape& shape : edges()) {
    SCOPED_TRACE(text(shape));
    swiglu(shape);
  }
}

TEST_F(RowKernels, GatherIsRightAtTheEdges) {
  for (const RowsShape& shape : edges()) {
    SCOPED_TRACE(text(shape));
    gather({shape.rows, shape.columns, 50, shape.type});
  }
}

TEST_F(RowKernels, RopeIsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const std::int64_t size : {2, 6, 8, 64, 128})
      for (const auto& [tokens, heads] : {std::pair{1, 1}, {1, 5}, {7, 3}, {20, 40}}) {
        if (type == Element::f16 && tokens != 7) continue;  // bf16 has the same widths
        SCOPED_TRACE(testing::Message() << tokens << " x " << heads << " x " << size);
        rope({tokens, heads, size, type});
      }
}

TEST_F(RowKernels, RopeIsRightInPackedRows) {
  for (const Element type : row_types)
    // Rows of whole vectors, of none though heads have them, and of odd heads.
    for (const auto& [size, stride] : {std::pair{64, 7 * 64}, {64, 5 * 64 + 1}, {6, 8 * 6}}) {
      SCOPED_TRACE(testing::Message() << size << " in " << stride);
      rope_packed({7, 5, size, type, stride});
    }
}

// Instructions exactly, of E elements and T threads: a reduction costs each thread ten additions or
// maxima, besides what each element needs. The work models count a multiply-add as two operations
// and what is per row, not per thread.
class Counters : public RowKernels, public testing::WithParamInterface<Element> {
 protected:
  static constexpr double elements = 64 * 2048, threads = 64 * 2048 / 16;
  const RowsShape shape_{64, 2048, GetParam()};
};

TEST_P(Counters, OfRmsNorm) {
  const Counted counted = rms_norm(shape_);
  expect_compulsory_dram(counted, rms_norm_work(shape_));
  // A multiply-add and two products; the reduction; epsilon.
  EXPECT_EQ(counted.of("fp32"), 3 * elements + 11 * threads);
}

TEST_P(Counters, OfSoftmax) {
  const Counted counted = softmax(shape_);
  expect_compulsory_dram(counted, softmax_work(shape_));
  // Maximum, multiply-add before the exponential, sum, product; two reductions.
  EXPECT_EQ(counted.of("fp32"), 4 * elements + 21 * threads);
  EXPECT_EQ(counted.of("special_function"), softmax_work(shape_).ops.at("exp") + threads);
}

TEST_P(Counters, OfSwiglu) {
  const Counted counted = swiglu(shape_);
  expect_compulsory_dram(counted, swiglu_work(shape_));
  // Factor log2(e), addition, product, and the division, which is a special function too.
  EXPECT_EQ(counted.of("fp32"), 3 * elements);
  EXPECT_EQ(counted.of("special_function"), swiglu_work(shape_).ops.at("exp") + elements);
}

TEST_P(Counters, OfRope) {
  const RopeShape shape{16, 64, 128, GetParam()};
  const Counted counted = rope(shape);
  expect_compulsory_dram(counted, rope_work(shape));
  // A product and a multiply-add (two operations) per element, and per pair a change of sign, which
  // machine code makes part of the multiply-add.
  const double pairs = 16 * 64 * 128 / 2;
  EXPECT_EQ(1.5 * (counted.of("fp32") - pairs), rope_work(shape).ops.at("f32"));
}

TEST_P(Counters, OfRopeInPackedRows) {
  const RopeShape shape{16, 40, 128, GetParam(), 48 * 128};
  expect_compulsory_dram(rope_packed(shape), rope_work(shape));
}

TEST_P(Counters, OfGather) {
  const GatherShape shape{64, 2048, 500, GetParam()};
  const Counted counted = gather(shape);
  expect_compulsory_dram(counted, gather_work(shape));
  EXPECT_EQ(counted.of("fp32"), 0);
}

INSTANTIATE_TEST_SUITE_P(EachType, Counters, testing::ValuesIn(row_types),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace warpmeter
