// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <bit>
#include <cstring>

#include "emulator/decode/bulk.h"
#include "emulator/machine/tensor_map.h"

// Operands of wgmma in shared memory: how a matrix descriptor spreads them.
namespace emulator {

// A matrix in shared memory whose rows (of A, columns of B) are 32 B of k long.
class SharedMatrix {
 public:
  SharedMatrix(std::uint64_t bits, bool transposed) : transposed_(transposed) {
    static constexpr std::uint32_t spans[] = {0, 128, 64, 32};
    start_ = (bits & 0x3fff) << 4;
    leading_ = (bits >> 16 & 0x3fff) << 4;
    stride_ = (bits >> 32 & 0x3fff) << 4;
    base_ = (bits >> 49 & 7) << 7;
    span_ = spans[bits >> 62];
  }
  // Where 16 bytes lie: of row `row` those from byte 16 `chunk` on; transposed, of column `row` the
  // elements from row 8 `chunk` on.
  std::uint64_t chunk(std::uint32_t row, std::uint32_t chunk) const {
    std::uint64_t at = start_;
    if (!transposed_ && span_ == 0) {
      at += row % 8 * 16 + row / 8 * stride_ + chunk * leading_;
    } else if (!transposed_) {
      at += row % 8 * span_ + row / 8 * stride_ + chunk * 16;
    } else if (span_ == 0) {
      at += chunk * stride_ + row % 8 * 16 + row / 8 * leading_;
    } else {
      const std::uint32_t across = span_ / 16;
      at += chunk % across * 16 + chunk / across * leading_ + row % 8 * span_ + row / 8 * stride_;
    }
    // A pattern that begins at no multiple of its length is counted from its own begin.
    return swizzled(at - base_, span_) + base_;
  }

 private:
  bool transposed_;
  std::uint64_t start_;
  std::uint64_t leading_;
  std::uint64_t stride_;
  std::uint64_t base_;
  std::uint32_t span_;
};

template <typename E>
inline constexpr std::uint32_t depth = 256 / E::bits;

// The element in a row of bytes.
template <typename E>
auto element(const std::byte* row, std::uint32_t n) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, row + n * (E::bits / 8), E::bits / 8);
  return E::value(bits);
}

// Calls f(row, k, value) for the rows `first` to `first + rows` of the matrix.
template <typename E, typename F>
void read_matrix(Warp& w, const Instr& i, const SharedMatrix& matrix, bool transposed,
                 std::uint32_t first, std::uint32_t rows, F&& f) {
  constexpr std::uint32_t per_chunk = 128 / E::bits;
  const int lane = std::countr_zero(w.active);
  if (!transposed) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
        const std::byte* at = bulk_shared(w, i, lane, matrix.chunk(first + row, chunk), 16);
        for (std::uint32_t n = 0; n < per_chunk; ++n)
          f(row, chunk * per_chunk + n, element<E>(at, n));
      }
    }
    return;
  }
  for (std::uint32_t k = 0; k < depth<E>; ++k) {
    for (std::uint32_t chunk = 0; chunk < rows / 8; ++chunk) {
      const std::byte* at = bulk_shared(w, i, lane, matrix.chunk(k, first / 8 + chunk), 16);
      for (std::uint32_t n = 0; n < 8; ++n) f(8 * chunk + n, k, element<E>(at, n));
    }
  }
}

}  // namespace emulator
