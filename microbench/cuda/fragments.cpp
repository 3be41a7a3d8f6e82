// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/fragments.h"

#include <bit>

namespace warpmeter {
namespace {

std::uint32_t pair(float low, float high) {
  return to_bf16(low) | static_cast<std::uint32_t>(to_bf16(high)) << 16;
}

}  // namespace

std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::vector<std::uint32_t> fragments_a(const MatrixA& a) {
  std::vector<std::uint32_t> words;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int column = lane % 4 * 2;
    for (const int k : {column, column + 8}) {
      for (const int row : {group, group + 8}) {
        words.push_back(pair(a[row * 16 + k], a[row * 16 + k + 1]));
      }
    }
  }
  return words;
}

std::vector<std::uint32_t> fragments_b(const MatrixB& b) {
  std::vector<std::uint32_t> words;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int row = lane % 4 * 2;
    for (const int k : {row, row + 8}) {
      words.push_back(pair(b[k * 8 + group], b[(k + 1) * 8 + group]));
    }
  }
  return words;
}

MatrixC matrix_c(const float* fragments) {
  MatrixC c{};
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int column = lane % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      c[(group + i / 2 * 8) * 8 + column + i % 2] = fragments[lane * 4 + i];
    }
  }
  return c;
}

}  // namespace warpmeter
