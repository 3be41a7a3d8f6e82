// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <map>

#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/gemm_scaled.h"
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

template <std::vector<Parameters> (*points)(int, Effort)>
std::vector<Parameters> points_of(int threads, Effort effort) {
  std::vector<Parameters> result = points(threads, effort);
  for (Parameters& point : result) point["kernel"] = "gemm.cublaslt";
  return result;
}

template <Element type>
Refusal only(const GemmShape& shape) {
  if (shape.type == type) return std::nullopt;
  return "type " + to_string(shape.type) + ": this kernel takes " + to_string(type) +
         "; kernel.gemm.cublaslt takes f32, bf16 and f16";
}

const Row<GemmShape> cublaslt_fp8 = {
    "kernel.gemm.cublaslt.fp8",
    "NVIDIA's cuBLASLt, e4m3 with a factor per row and per column, the first choice of its "
    "heuristics.",
    points_of<gemm_fp8_points>,
    gemm_shape,
    scaled_gemm_work,
    scaled_gemm_problem,
    nullptr,
    only<Element::e4m3>,
    cublaslt_refusal,
    [](const GemmShape& shape) -> PreparedLaunch {
      const auto gemm = std::make_shared<CublasLtGemm>(shape);
      return {[gemm](Operands p, cudaStream_t stream) {
                gemm->enqueue(p[0], p[1], p[4], stream, {p[2], p[3]});
              },
              gemm->conditions()};
    }};

// Sums alone: 4 bytes per result, and no factors.
Work whole_gemm_work(const GemmShape& shape) {
  Work work = gemm_work(shape);
  work.bytes_written *= 4;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

const Row<GemmShape> cublaslt_int8 = {"kernel.gemm.cublaslt.int8",
                                      "NVIDIA's cuBLASLt, int8 to i32, the first choice of its "
                                      "heuristics.",
                                      points_of<gemm_int8_points>,
                                      gemm_shape,
                                      whole_gemm_work,
                                      whole_gemm_problem,
                                      nullptr,
                                      only<Element::int8>,
                                      cublaslt_refusal,
                                      prepare_cublaslt};

}  // namespace

std::vector<Benchmark> cuda_library_kernels() {
  return {benchmark(cublaslt), benchmark(cublaslt_fp8), benchmark(cublaslt_int8)};
}

}  // namespace warpmeter
