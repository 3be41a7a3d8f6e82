// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>

#include "tests/emulator/tensor_case.h"

namespace {

TensorCopy whole_plane(unsigned char* tensor) {
  void* found = nullptr;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                             cudaEnableDefault, nullptr),
            cudaSuccess);
  const cuuint64_t sizes[] = {32, 16}, strides[] = {128};
  const cuuint32_t box[] = {32, 16}, steps[] = {1, 1};
  TensorCopy copy{};
  EXPECT_EQ(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
                &copy.map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, tensor, sizes, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_SUCCESS);
  copy.rank = 2;
  copy.bytes = copy.box_bytes = 2048;
  return copy;
}

TEST(TensorMemory, PrefetchedBoxesComeFromL2) {
  Managed<unsigned char> one(2048), other(2048);
  Managed<std::uint64_t> cycles(4);
  run_tensor_prefetch(whole_plane(one.get()));
  run_tensor_cycles(whole_plane(one.get()), 1, &cycles[0]);
  run_tensor_cycles(whole_plane(other.get()), 1, &cycles[2]);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_LT(cycles[0], cycles[1] + 20);
  EXPECT_GT(cycles[2], cycles[3] + 150);  // from DRAM
}

TEST(TensorMemory, MapsMayLieInGlobalMemory) {
  Managed<unsigned char> tensor(2048), after(2048);
  Managed<TensorCopy> copy(1);
  for (std::size_t i = 0; i < 2048; ++i) tensor[i] = static_cast<unsigned char>(i * 7 + i / 256);
  copy[0] = whole_plane(tensor.get());
  run_tensor_load_from_memory(copy.get(), 2048, after.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t i = 0; i < 2048; ++i) ASSERT_EQ(after[i], tensor[i]) << i;
}

}  // namespace
