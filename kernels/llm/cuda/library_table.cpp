// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <map>

#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/library/cublaslt.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

Refusal float_type(const GemmShape& shape) {
  if (shape.type == Element::f32) return std::nullopt;
  return half_type(shape);
}

Refusal cublaslt_refusal(const Device& device) {
  static std::map<int, Refusal> answers;
  return answer_once(answers, device, cublaslt_missing);
}

// The shapes of both kernels of ours, in each type: one table compares them.
std::vector<Parameters> cublaslt_points(int threads, Effort effort) {
  std::vector<Parameters> points = gemm_prefill_points(threads, effort);
  for (const auto& more : {half_type_points<gemm_prefill_points>, gemm_decode_points,
                           half_type_points<gemm_decode_points>})
    for (Parameters& point : more(threads, effort)) points.push_back(std::move(point));
  for (Parameters& point : points) point["kernel"] = "gemm.cublaslt";
  return points;
}

PreparedLaunch prepare_cublaslt(const GemmShape& shape) {
  const auto gemm = std::make_shared<CublasLtGemm>(shape);
  return {[gemm](Operands p, cudaStream_t stream) { gemm->enqueue(p[0], p[1], p[2], stream); },
          gemm->conditions()};
}

const Row<GemmShape> cublaslt = {"kernel.gemm.cublaslt",
                                 "NVIDIA's cuBLASLt, the first choice of its heuristics.",
                                 cublaslt_points,
                                 gemm_shape,
                                 gemm_work,
                                 gemm_problem,
                                 nullptr,
                                 float_type,
                                 cublaslt_refusal,
                                 prepare_cublaslt};

}  // namespace

std::vector<Benchmark> cuda_library_kernels() { return {benchmark(cublaslt)}; }

}  // namespace warpmeter
