// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/library/cublaslt.h"

#include <cublasLt.h>
#include <fmt/format.h>

#include <stdexcept>

#include "core/shared_library.h"
#include "cuda/handles.h"

namespace warpmeter {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr std::uint32_t no_rounded_parts =
    CUBLASLT_REDUCTION_SCHEME_MASK & ~std::uint32_t{CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE};

// The functions in use, by the declarations of cublasLt.h.
struct Functions {
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusString) text = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_product = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get_algorithm = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
  std::string why;  // empty if the library is there and whole

  Functions() {
    const SharedLibrary library = SharedLibrary::open("libcublasLt.so.13", why);
    if (!library) return;
    library.bind("cublasLtGetVersion", version);
    library.bind("cublasLtGetStatusString", text);
    library.bind("cublasLtCreate", create);
    library.bind("cublasLtDestroy", destroy);
    library.bind("cublasLtMatmulDescCreate", create_product);
    library.bind("cublasLtMatmulDescSetAttribute", set_product);
    library.bind("cublasLtMatmulDescDestroy", destroy_product);
    library.bind("cublasLtMatrixLayoutCreate", create_layout);
    library.bind("cublasLtMatrixLayoutDestroy", destroy_layout);
    library.bind("cublasLtMatmulPreferenceCreate", create_preference);
    library.bind("cublasLtMatmulPreferenceSetAttribute", set_preference);
    library.bind("cublasLtMatmulPreferenceDestroy", destroy_preference);
    library.bind("cublasLtMatmulAlgoGetHeuristic", heuristic);
    library.bind("cublasLtMatmulAlgoConfigGetAttribute", get_algorithm);
    library.bind("cublasLtMatmul", multiply);
    if (library.missing() != nullptr)
      why = fmt::format("libcublasLt.so.13 lacks {}", library.missing());
  }
};

const Functions& functions() {
  static const Functions loaded;
  return loaded;
}

std::string failure(const char* call, cublasStatus_t status) {
  return fmt::format("{}: {}", call, functions().text(status));
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(failure(call, status));
}

void destroy_handle(cublasLtHandle_t handle) { functions().destroy(handle); }
void destroy_product(cublasLtMatmulDesc_t product) { functions().destroy_product(product); }
void destroy_layout(cublasLtMatrixLayout_t layout) { functions().destroy_layout(layout); }
void destroy_preference(cublasLtMatmulPreference_t preference) {
  functions().destroy_preference(preference);
}

using LtHandle = UniqueHandle<cublasLtHandle_t, destroy_handle>;
using Product = UniqueHandle<cublasLtMatmulDesc_t, destroy_product>;
using Layout = UniqueHandle<cublasLtMatrixLayout_t, destroy_layout>;
using Preference = UniqueHandle<cublasLtMatmulPreference_t, destroy_preference>;

cudaDataType_t data_type(Element type) {
  switch (type) {
    case Element::f32:
      return CUDA_R_32F;
    case Element::bf16:
      return CUDA_R_16BF;
    case Element::f16:
      return CUDA_R_16F;
    case Element::e4m3:
      return CUDA_R_8F_E4M3;
    case Element::int8:
      return CUDA_R_8I;
    case Element::i32:
      return CUDA_R_32I;
    default:
      throw std::logic_error("cuBLASLt gets no operands of " + to_string(type));
  }
}

// A matrix by columns, as cuBLAS sees it: our [rows, columns] with contiguous rows is its
// columns x rows matrix.
Layout layout(Element type, std::int64_t columns, std::int64_t rows) {
  cublasLtMatrixLayout_t made = nullptr;
  check(functions().create_layout(&made, data_type(type), static_cast<std::uint64_t>(columns),
                                  static_cast<std::uint64_t>(rows), columns),
        "cublasLtMatrixLayoutCreate");
  return Layout(made);
}

}  // namespace

struct CublasLtGemm::Plan {
  Element type;
  LtHandle handle;
  Product product;
  Layout activations, weights, result;
  cublasLtMatmulHeuristicResult_t choice{};
  DeviceBuffer workspace;

  explicit Plan(const GemmShape& shape) : type(shape.type) {
    const Functions& f = functions();
    const bool integers = type == Element::int8;
    cublasLtHandle_t made = nullptr;
    check(f.create(&made), "cublasLtCreate");
    handle = LtHandle(made);
    cublasLtMatmulDesc_t description = nullptr;
    check(f.create_product(&description, integers ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                           integers ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    product = Product(description);
    // By columns: result^T [n, m] = (weights^T [k, n])^T activations^T [k, m].
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (type == Element::e4m3) {
      set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
      set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    }
    weights = layout(shape.type, shape.k, shape.n);
    activations = layout(shape.type, shape.k, shape.m);
    const Element result_type = integers                ? Element::i32
                                : type == Element::e4m3 ? Element::bf16
                                                        : type;
    result = layout(result_type, shape.n, shape.m);
    choose(shape);
    workspace = DeviceBuffer(std::max<std::size_t>(choice.workspaceSize, 1));
  }

  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) const {
    check(functions().set_product(product.get(), attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

 private:
  void choose(const GemmShape& shape) {
    const Functions& f = functions();
    cublasLtMatmulPreference_t made = nullptr;
    check(f.create_preference(&made), "cublasLtMatmulPreferenceCreate");
    const Preference preference(made);
    check(f.set_preference(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                           sizeof workspace_bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    check(f.set_preference(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &no_rounded_parts,
                           sizeof no_rounded_parts),
          "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    const cublasStatus_t status =
        f.heuristic(handle.get(), product.get(), weights.get(), activations.get(), result.get(),
                    result.get(), made, 1, &choice, &found);
    if (status != CUBLAS_STATUS_SUCCESS || found == 0)
      throw std::runtime_error(fmt::format("cuBLASLt has no algorithm for m {} n {} k {} {}: {}",
                                           shape.m, shape.n, shape.k, to_string(shape.type),
                                           functions().text(status)));
    check(choice.state, "cublasLtMatmulAlgoGetHeuristic");
  }
};

std::optional<std::string> cublaslt_missing() {
  if (!functions().why.empty()) return functions().why;
  cublasLtHandle_t handle = nullptr;
  const cublasStatus_t status = functions().create(&handle);
  if (status != CUBLAS_STATUS_SUCCESS) return failure("cublasLtCreate", status);
  functions().destroy(handle);
  return std::nullopt;
}

CublasLtGemm::CublasLtGemm(const GemmShape& shape) {
  if (!functions().why.empty()) throw std::runtime_error(functions().why);
  plan_ = std::make_unique<Plan>(shape);
}

CublasLtGemm::~CublasLtGemm() = default;

void CublasLtGemm::enqueue(const void* activations, const void* weights, void* result,
                           cudaStream_t stream, const Scales& scales) const {
  const float one = 1, zero = 0;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const Plan& p = *plan_;
  const bool integers = p.type == Element::int8;
  if (p.type == Element::e4m3) {
    p.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales.channel);
    p.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales.token);
  }
  check(functions().multiply(p.handle.get(), p.product.get(),
                             integers ? static_cast<const void*>(&whole_one) : &one, weights,
                             p.weights.get(), activations, p.activations.get(),
                             integers ? static_cast<const void*>(&whole_zero) : &zero, result,
                             p.result.get(), result, p.result.get(), &p.choice.algo,
                             p.workspace.as<void>(), p.workspace.bytes(), stream),
        "cublasLtMatmul");
}

Json CublasLtGemm::conditions() const {
  Json algorithm;
  for (const auto& [name, attribute] : {std::pair{"id", CUBLASLT_ALGO_CONFIG_ID},
                                        {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID},
                                        {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID},
                                        {"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM},
                                        {"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME}}) {
    std::int32_t value = 0;
    std::size_t written = 0;
    if (functions().get_algorithm(&plan_->choice.algo, attribute, &value, sizeof value, &written) ==
        CUBLAS_STATUS_SUCCESS)
      algorithm[name] = value;
  }
  algorithm["waves"] = plan_->choice.wavesCount;
  algorithm["workspace"] = plan_->choice.workspaceSize;
  return {{"implementation", "cuBLASLt"},
          {"library_version", functions().version()},
          {"algorithm", algorithm}};
}

}  // namespace warpmeter
