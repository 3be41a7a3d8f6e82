// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/clusters.h"

#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

TEST(Clusters, BlocksReadEachOthersSharedMemory) {
  Managed<U32> out(12 * 64);
  run_neighbours(out.get(), 12);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 block = 0; block < 12; ++block) {
    const U32 next = block / 4 * 4 + (block + 1) % 4;
    for (U32 t = 0; t < 64; ++t) ASSERT_EQ(out[block * 64 + t], 1000 * next + t);
  }
}

TEST(Clusters, OccupancyCountsWholeClusters) {
  const void* kernel = neighbours_kernel();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(64);
  int blocks = 0, sms = 0, clusters = 0, largest = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), cudaSuccess);
  EXPECT_EQ(clusters, blocks * sms / 4);
  config.dynamicSmemBytes = 40000;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 40000), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), cudaSuccess);
  EXPECT_EQ(clusters, blocks * sms / 4);
  ASSERT_EQ(cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &config), cudaSuccess);
  EXPECT_EQ(largest, 8);
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &config), cudaSuccess);
  EXPECT_EQ(largest, 16);
}

TEST(Clusters, GridsMustBeMultiplesOfTheCluster) {
  Managed<U32> out(64);
  run_neighbours(out.get(), 6);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST(Bulk, CopiesCompletePhasesOfABarrier) {
  Managed<U32> in(1024);
  Managed<U32> out(256);
  for (U32 i = 0; i < 1024; ++i) in[i] = i * i + 1;
  run_bulk(out.get(), in.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 i = 0; i < 256; ++i) ASSERT_EQ(out[i], in[i] + in[256 + i] + in[512 + i] + in[768 + i]);
}

TEST(Bulk, MulticastReachesBothBlocks) {
  Managed<U32> in(128);
  Managed<U32> out(256);
  for (U32 i = 0; i < 128; ++i) in[i] = 7 * i;
  run_multicast(out.get(), in.get(), 4);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 i = 0; i < 256; ++i) ASSERT_EQ(out[i], in[i / 128 * 64 + i % 64] + i / 64 % 2) << i;
}

}  // namespace
