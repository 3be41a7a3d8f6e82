// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/tensor_map.h"

#include <fmt/format.h>

#include <stdexcept>

#include "cuda/check.h"

namespace warpmeter {
namespace {

constexpr cuuint32_t box_bytes = 128;  // of a row: the width of the swizzle

decltype(&cuTensorMapEncodeTiled) find_encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  GPU_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                             cudaEnableDefault, &status));
  if (status != cudaDriverEntryPointSuccess || found == nullptr)
    throw std::runtime_error("the driver has no cuTensorMapEncodeTiled: CUDA 12.0 is needed");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}

CUtensorMapDataType data_type(Element type) {
  if (type == Element::bf16) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (type == Element::f16) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (bytes_of(type) == 1) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  throw std::logic_error("no tensor map for a matrix of " + to_string(type));
}

}  // namespace

CUtensorMap matrix_map(Element type, const void* matrix, std::int64_t rows, std::int64_t columns,
                       int box_rows) {
  return sequences_map(type, matrix, 0, rows, columns, box_rows);
}

// No sequences: a matrix.
CUtensorMap sequences_map(Element type, const void* tensor, std::int64_t sequences,
                          std::int64_t rows, std::int64_t columns, int box_rows) {
  static const auto encode = find_encoder();
  const auto bytes = static_cast<cuuint32_t>(bytes_of(type));
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                              static_cast<cuuint64_t>(sequences)};
  const cuuint64_t strides[] = {sizes[0] * bytes, sizes[0] * sizes[1] * bytes};
  const cuuint32_t box[] = {box_bytes / bytes, static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult status =
      encode(&map, data_type(type), sequences == 0 ? 2 : 3, const_cast<void*>(tensor), sizes,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw std::runtime_error(fmt::format("cuTensorMapEncodeTiled refuses {} x {} of {}: error {}",
                                         rows, columns, to_string(type), static_cast<int>(status)));
  return map;
}

}  // namespace warpmeter
