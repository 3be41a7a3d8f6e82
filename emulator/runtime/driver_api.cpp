// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The few driver functions that a program can ask the runtime for: those of tensor maps.
#include <cuda.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/machine/tensor_map.h"
#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"

namespace emulator {
namespace {

CUresult refuse(const std::string& why) {
  explain("cuTensorMapEncodeTiled: " + why);
  return CUDA_ERROR_INVALID_VALUE;
}

bool is_real(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

struct Shape {
  cuuint32_t rank;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* box;
  const cuuint32_t* steps;
};

// Why the driver would refuse the dimensions; empty if it would not.
std::string wrong_shape(const Shape& s) {
  if (s.rank < 1 || s.rank > 5) return "the rank must be 1 to 5";
  if (s.sizes == nullptr || s.box == nullptr || s.steps == nullptr) return "a null pointer";
  if (s.rank > 1 && s.strides == nullptr) return "a null pointer";
  for (cuuint32_t d = 0; d < s.rank; ++d) {
    if (s.sizes[d] == 0 || s.sizes[d] > cuuint64_t{1} << 32) {
      return fmt::format("globalDim[{}] must be 1 to 2^32", d);
    }
    if (s.box[d] == 0 || s.box[d] > 256) return fmt::format("boxDim[{}] must be 1 to 256", d);
    if (s.steps[d] == 0 || s.steps[d] > 8) {
      return fmt::format("elementStrides[{}] must be 1 to 8", d);
    }
  }
  for (cuuint32_t d = 0; d + 1 < s.rank; ++d) {
    if (s.strides[d] % 16 != 0 || s.strides[d] >= cuuint64_t{1} << 40) {
      return fmt::format("globalStrides[{}] must be a multiple of 16 below 2^40", d);
    }
  }
  return {};
}

CUresult encode_tiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                      CUtensorMapFloatOOBfill fill) {
  if (the_chip().major < 9) return CUDA_ERROR_NOT_SUPPORTED;
  if (out == nullptr || reinterpret_cast<std::uintptr_t>(out) % 64 != 0) {
    return refuse("the tensor map must lie at a multiple of 64 B");
  }
  if (type < 0 || type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) return refuse("the data type");
  const std::string wrong = wrong_shape({rank, sizes, strides, box, steps});
  if (!wrong.empty()) return refuse(wrong);
  if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return refuse("globalAddress must be a multiple of 16");
  }
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    return refuse("interleaved layouts are not supported by the emulated GPU");
  }
  if (swizzle < 0 || swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return refuse("the swizzle mode");
  if (promotion < 0 || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
    return refuse("the L2 promotion");
  }
  if (fill < 0 || fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ||
      (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_real(type))) {
    return refuse("the fill of elements outside: NaN needs a floating-point type");
  }
  TensorMap map;
  map.type = static_cast<TensorType>(type);
  map.swizzle_bytes =
      static_cast<std::uint8_t>(swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 << swizzle);
  const std::uint32_t inner = box[0] * bytes_of(map.type);
  if (inner % 16 != 0) return refuse("boxDim[0] must be a multiple of 16 B");
  if (map.swizzle_bytes != 0 && inner > map.swizzle_bytes) {
    return refuse(fmt::format("boxDim[0] of {} B is more than the {} B of the swizzle", inner,
                              map.swizzle_bytes));
  }
  map.magic = TensorMap::valid;
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.rank = static_cast<std::uint8_t>(rank);
  map.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t d = 0; d < rank; ++d) {
    map.sizes[d] = sizes[d];
    map.box[d] = static_cast<std::uint16_t>(box[d]);
    map.steps[d] = static_cast<std::uint8_t>(steps[d]);
    if (d > 0) map.strides[d - 1] = strides[d - 1];
  }
  *out = std::bit_cast<CUtensorMap>(map);
  return CUDA_SUCCESS;
}

CUresult replace_address(CUtensorMap* out, void* address) {
  if (out == nullptr || reinterpret_cast<std::uintptr_t>(out) % 64 != 0 || address == nullptr ||
      reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto map = std::bit_cast<TensorMap>(*out);
  if (map.magic != TensorMap::valid) return CUDA_ERROR_INVALID_VALUE;
  map.address = reinterpret_cast<std::uint64_t>(address);
  *out = std::bit_cast<CUtensorMap>(map);
  return CUDA_SUCCESS;
}

CUresult driver_version(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDART_VERSION;
  return CUDA_SUCCESS;
}

struct Row {
  const char* name;
  void* function;
  unsigned int since;  // CUDA version
};

const Row* find_function(const char* name) {
  static const Row rows[] = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(encode_tiled), 12000},
      {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(replace_address), 12000},
      {"cuDriverGetVersion", reinterpret_cast<void*>(driver_version), 2020},
  };
  for (const Row& row : rows) {
    if (std::strcmp(row.name, name) == 0) return &row;
  }
  return nullptr;
}

cudaError_t entry_point(const char* name, void** function, unsigned int version,
                        cudaDriverEntryPointQueryResult* result) {
  return call([&](Lock&) -> cudaError_t {
    if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
    const Row* row = find_function(name);
    if (row != nullptr && version < row->since) {
      status = cudaDriverEntryPointVersionNotSufficent;
    } else if (row != nullptr) {
      status = cudaDriverEntryPointSuccess;
      *function = row->function;
    }
    if (result != nullptr) *result = status;
    // Without a place for the status the runtime reports it as its error.
    return status == cudaDriverEntryPointSuccess || result != nullptr ? cudaSuccess
                                                                      : cudaErrorSymbolNotFound;
  });
}

}  // namespace
}  // namespace emulator

extern "C" {

EMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                          unsigned int version, unsigned long long,
                                                          cudaDriverEntryPointQueryResult* result) {
  return emulator::entry_point(name, function, version, result);
}
EMULATOR_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                 unsigned long long,
                                                 cudaDriverEntryPointQueryResult* result) {
  return emulator::entry_point(name, function, CUDART_VERSION, result);
}
EMULATOR_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                                      unsigned long long,
                                                      cudaDriverEntryPointQueryResult* result) {
  return emulator::entry_point(name, function, CUDART_VERSION, result);
}

}  // extern "C"
