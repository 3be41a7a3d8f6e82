// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The kernels of NVIDIA's libraries, with stand-ins for them (stand_in_*.cpp) on the emulated GPU:
// what we tell them must give the product that we mean, and what they say must reach the record.
#include <algorithm>

#include "cuda/device.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/library/cublaslt.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Operands = std::span<void* const>;

class CublasLt : public OnEmulatedGpu {
 protected:
  void multiply(const GemmShape& shape) {
    const CublasLtGemm gemm(shape);
    run(gemm_problem(shape, 5),
        [&](Operands p, cudaStream_t stream) { gemm.enqueue(p[0], p[1], p[2], stream); });
  }
};

TEST_F(CublasLt, GivesOurProductInEachType) {
  ASSERT_EQ(cublaslt_missing(), std::nullopt);
  for (const Element type : {Element::f32, Element::bf16, Element::f16})
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {3, 40, 17}, {40, 3, 64}, {16, 16, 16}}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << " " << to_string(type));
      multiply({m, n, k, type});
    }
}

TEST_F(CublasLt, GivesOurProductOf8BitOperands) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {3, 40, 17}, {40, 3, 64}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    const GemmShape whole = {m, n, k, Element::int8}, scaled = {m, n, k, Element::e4m3};
    const CublasLtGemm integers(whole), floats(scaled);
    run(whole_gemm_problem(whole, 5),
        [&](Operands p, cudaStream_t stream) { integers.enqueue(p[0], p[1], p[2], stream); });
    run(scaled_gemm_problem(scaled, 5), [&](Operands p, cudaStream_t stream) {
      floats.enqueue(p[0], p[1], p[4], stream, {p[2], p[3]});
    });
  }
}

TEST_F(CublasLt, SaysWhichAlgorithmWasChosen) {
  const Json said = CublasLtGemm({8, 8, 8, Element::bf16}).conditions();
  EXPECT_EQ(said["implementation"], "cuBLASLt");
  EXPECT_EQ(said["library_version"], 130999);
  const Json chosen = {{"id", 66},     {"tile", 20},     {"stages", 12},
                       {"split_k", 3}, {"waves", 0.75f}, {"workspace", 4096}};
  EXPECT_EQ(said["algorithm"], chosen);
}

TEST_F(CublasLt, NamesTheShapeThatTheLibraryCannotDo) {
  try {
    const CublasLtGemm gemm({4, 5, 13, Element::f16});
    FAIL() << "no refusal";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "cuBLASLt has no algorithm for m 4 n 5 k 13 f16: status of the stand-in");
  }
}

// The front end describes the graph, but cuDNN itself starts on no emulated GPU, and must say so.
TEST_F(CublasLt, IsJoinedByCudnnWhichRefusesTheEmulatedGpu) {
  const std::vector<Benchmark> table = cuda_llm_kernels();
  const auto row = std::find_if(table.begin(), table.end(), [](const Benchmark& candidate) {
    return candidate.id == "kernel.attention.cudnn";
  });
  if (row == table.end()) GTEST_SKIP() << "built without cuDNN's headers";
  std::string why;
  const Device device = find_cuda_devices(why).at(0);
  const Parameters point = row->points(device, Effort::quick).at(0);
  const std::string reason = row->unsupported(device, point).value_or("");
  EXPECT_TRUE(reason.find("cudnnCreate: ") == 0 || reason == "libcudnn.so.9 not found") << reason;
  EXPECT_THROW(row->make(device, point), std::runtime_error);
}

}  // namespace
}  // namespace warpmeter
