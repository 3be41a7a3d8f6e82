// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/emulator/kernels.h"

inline constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

// An error that is not sticky: reported once, then gone, and work goes on.
inline void expect_passing(cudaError_t got, cudaError_t want) {
  EXPECT_EQ(got, want);
  EXPECT_EQ(cudaPeekAtLastError(), want);
  EXPECT_EQ(cudaGetLastError(), want);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// A value that is none of the enumeration's.
template <typename E>
E unknown(int value) {
  return std::bit_cast<E>(value);
}

class Misuse : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&data_, 4096), cudaSuccess);
    ASSERT_EQ(cudaMemset(data_, 0, 4096), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  char* at(std::size_t offset) { return static_cast<char*>(data_) + offset; }
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};
