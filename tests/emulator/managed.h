// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

// An array that host and device both see.
template <typename T>
class Managed {
 public:
  explicit Managed(std::size_t n) : size_(n) {
    EXPECT_EQ(
        cudaMallocManaged(reinterpret_cast<void**>(&data_), n * sizeof(T), cudaMemAttachGlobal),
        cudaSuccess);
  }
  explicit Managed(const std::vector<T>& values) : Managed(values.size()) {
    std::memcpy(data_, values.data(), values.size() * sizeof(T));
  }
  ~Managed() { (void)cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  T* get() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};
