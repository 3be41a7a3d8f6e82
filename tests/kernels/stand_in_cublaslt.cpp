// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A stand-in for libcublasLt.so.13, for tests only: the functions that we use, computing on the
// host with the memory of an emulated GPU, whose addresses are the host's. It follows cuBLASLt's
// documented conventions (matrices by columns, op(A) op(B)), and so tells whether our descriptors
// say what we mean; about speed, algorithms and the real library's refusals it says nothing.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernels/llm/element.h"

namespace {

using warpmeter::bf16_to_float;
using warpmeter::f16_to_float;

struct Product {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  bool integers = false;
  const float *a_scales = nullptr, *b_scales = nullptr;
  std::int32_t a_mode = 0, b_mode = 0;
};
struct Matrix {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t leading;
};
struct Preference {
  std::size_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};

// What the heuristics "choose"; the test expects these numbers in the record.
constexpr std::int32_t planted[] = {/*id*/ 66, /*tile*/ 20, /*stages*/ 12, /*split_k*/ 3};

double load(const Matrix& m, const void* data, std::uint64_t row, std::uint64_t column) {
  const std::size_t at = row + column * static_cast<std::uint64_t>(m.leading);
  if (m.type == CUDA_R_32F) return static_cast<const float*>(data)[at];
  if (m.type == CUDA_R_8I) return static_cast<const std::int8_t*>(data)[at];
  if (m.type == CUDA_R_8F_E4M3)
    return warpmeter::e4m3_to_float(static_cast<const std::uint8_t*>(data)[at]);
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[at];
  return m.type == CUDA_R_16BF ? bf16_to_float(bits) : f16_to_float(bits);
}

void store(const Matrix& m, void* data, std::uint64_t row, std::uint64_t column, double sum) {
  const std::size_t at = row + column * static_cast<std::uint64_t>(m.leading);
  const auto value = static_cast<float>(sum);
  if (m.type == CUDA_R_32F)
    static_cast<float*>(data)[at] = value;
  else if (m.type == CUDA_R_32I)
    static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(sum);
  else
    static_cast<std::uint16_t*>(data)[at] =
        m.type == CUDA_R_16BF ? warpmeter::float_to_bf16(value) : warpmeter::float_to_f16(value);
}

// Whether alpha or beta is `number`, in the type in which the product takes them.
bool is_number(const Product& product, const void* value, int number) {
  if (product.integers) return *static_cast<const std::int32_t*>(value) == number;
  return *static_cast<const float*>(value) == static_cast<float>(number);
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130999; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "status of the stand-in"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const bool integers = compute == CUBLAS_COMPUTE_32I && scale == CUDA_R_32I;
  if (!integers && (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  auto* product = new Product;
  product->integers = integers;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size) {
  auto* p = reinterpret_cast<Product*>(product);
  const auto keep = [&](auto& target) {
    if (size != sizeof target) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&target, value, size);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) return keep(p->a);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) return keep(p->b);
  if (attribute == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER) return keep(p->a_scales);
  if (attribute == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER) return keep(p->b_scales);
  if (attribute == CUBLASLT_MATMUL_DESC_A_SCALE_MODE) return keep(p->a_mode);
  if (attribute == CUBLASLT_MATMUL_DESC_B_SCALE_MODE) return keep(p->b_mode);
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete reinterpret_cast<Product*>(product);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  if (leading < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Matrix{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Matrix*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t size) {
  auto* p = reinterpret_cast<Preference*>(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && size == sizeof p->workspace)
    std::memcpy(&p->workspace, value, size);
  else if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK && size == sizeof p->reductions)
    std::memcpy(&p->reductions, value, size);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Preference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

// Refuses a product that does not fit together, one whose parts might be rounded, and k = 13.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a_layout,
    cublasLtMatrixLayout_t b_layout, cublasLtMatrixLayout_t c_layout,
    cublasLtMatrixLayout_t d_layout, cublasLtMatmulPreference_t preference, int requested,
    cublasLtMatmulHeuristicResult_t results[], int* found) {
  const auto* p = reinterpret_cast<const Product*>(product);
  const auto *a = reinterpret_cast<const Matrix*>(a_layout),
             *b = reinterpret_cast<const Matrix*>(b_layout),
             *d = reinterpret_cast<const Matrix*>(d_layout);
  const auto* wanted = reinterpret_cast<const Preference*>(preference);
  const std::uint64_t m = p->a == CUBLAS_OP_N ? a->rows : a->columns;
  const std::uint64_t k = p->a == CUBLAS_OP_N ? a->columns : a->rows;
  const std::uint64_t n = p->b == CUBLAS_OP_N ? b->columns : b->rows;
  const std::uint64_t k_of_b = p->b == CUBLAS_OP_N ? b->rows : b->columns;
  *found = 0;
  if (k != k_of_b || d->rows != m || d->columns != n || c_layout != d_layout || requested != 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  // Types that go together, and scales of vectors for e4m3 alone.
  const bool floats8 = a->type == CUDA_R_8F_E4M3;
  const cudaDataType result = p->integers ? CUDA_R_32I : floats8 ? CUDA_R_16BF : a->type;
  const std::int32_t mode = floats8 ? CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F : 0;
  if (a->type != b->type || (a->type == CUDA_R_8I) != p->integers || d->type != result ||
      p->a_mode != mode || p->b_mode != mode)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (wanted->reductions & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE || wanted->workspace < 4096)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (k == 13) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(results[0].algo.data, planted, sizeof planted);
  results[0].workspaceSize = 4096;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 0.75f;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* value, std::size_t size,
                                                    std::size_t* written) {
  int at = 0;
  if (attribute == CUBLASLT_ALGO_CONFIG_ID)
    at = 0;
  else if (attribute == CUBLASLT_ALGO_CONFIG_TILE_ID)
    at = 1;
  else if (attribute == CUBLASLT_ALGO_CONFIG_STAGES_ID)
    at = 2;
  else if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM)
    at = 3;
  else
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (size != sizeof(std::int32_t)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, reinterpret_cast<const std::int32_t*>(algorithm->data) + at, size);
  *written = size;
  return CUBLAS_STATUS_SUCCESS;
}

// d = alpha op(a) op(b), at once, after what the stream holds.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha,
                              const void* a_data, cublasLtMatrixLayout_t a_layout,
                              const void* b_data, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void*, cublasLtMatrixLayout_t, void* d_data,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* chosen,
                              void* workspace, std::size_t workspace_size, cudaStream_t stream) {
  const auto* p = reinterpret_cast<const Product*>(product);
  const auto *a = reinterpret_cast<const Matrix*>(a_layout),
             *b = reinterpret_cast<const Matrix*>(b_layout),
             *d = reinterpret_cast<const Matrix*>(d_layout);
  if (std::memcmp(chosen->data, planted, sizeof planted) != 0 || workspace == nullptr ||
      workspace_size < 4096 || !is_number(*p, beta, 0) || !is_number(*p, alpha, 1))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const std::uint64_t depth = p->a == CUBLAS_OP_N ? a->columns : a->rows;
  for (std::uint64_t column = 0; column < d->columns; ++column)
    for (std::uint64_t row = 0; row < d->rows; ++row) {
      double sum = 0;
      for (std::uint64_t k = 0; k < depth; ++k)
        sum += (p->a == CUBLAS_OP_N ? load(*a, a_data, row, k) : load(*a, a_data, k, row)) *
               (p->b == CUBLAS_OP_N ? load(*b, b_data, k, column) : load(*b, b_data, column, k));
      if (a->type == CUDA_R_8F_E4M3) sum *= double(p->a_scales[row]) * p->b_scales[column];
      store(*d, d_data, row, column, sum);
    }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
