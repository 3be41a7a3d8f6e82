// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "tests/emulator/managed.h"
#include "tests/emulator/tensor.h"

// One tensor and one box of it, and what a copy of the box must do, element by element.
struct TensorCase {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  std::size_t element = 1;  // B
  std::size_t rank = 1;
  std::vector<cuuint64_t> sizes;    // all vectors have `rank` entries, innermost first
  std::vector<cuuint64_t> strides;  // B, of dimensions 1 and up
  std::vector<cuuint32_t> box;
  std::vector<cuuint32_t> steps;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  std::vector<int> coordinates;
  unsigned at = 0;  // of the box in shared memory

  std::size_t tensor_bytes() const {
    return rank == 1 ? sizes[0] * element : strides.back() * sizes.back();
  }
  std::size_t count(std::size_t d) const {  // elements that the box takes
    return d == 0 ? box[0] : (box[d] + steps[d] - 1) / steps[d];
  }
  std::size_t elements() const {
    std::size_t n = 1;
    for (std::size_t d = 0; d < rank; ++d) n *= count(d);
    return n;
  }
  std::size_t row_pitch() const {
    static constexpr std::size_t spans[] = {0, 32, 64, 128};
    return std::max(box[0] * element, spans[swizzle]);
  }
  unsigned shared_bytes() const {
    return at + static_cast<unsigned>(elements() / box[0] * row_pitch()) + 128;
  }

  // Calls f(offset in shared memory, offset in the tensor, inside?) for each element of the box.
  template <typename F>
  void for_elements(F f) const {
    for (std::size_t n = 0; n < elements(); ++n) {
      std::size_t rest = n;
      std::size_t global = 0;
      bool inside = true;
      for (std::size_t d = 0; d < rank; ++d) {
        const long i = static_cast<long>(rest % count(d));
        rest /= count(d);
        const long x = coordinates[d] + i * static_cast<long>(d == 0 ? 1 : steps[d]);
        inside = inside && x >= 0 && x < static_cast<long>(sizes[d]);
        global += static_cast<std::size_t>(x) * (d == 0 ? element : strides[d - 1]);
      }
      const std::size_t linear = at + n / box[0] * row_pitch() + n % box[0] * element;
      f(swizzle_of(linear), global, inside);
    }
  }

  // The programming guide's picture: in each line of 128 B, chunk c of 16 B goes to c ^ (line % 8),
  // or within groups of 4 or 2 chunks.
  std::size_t swizzle_of(std::size_t offset) const {
    const std::size_t line = offset / 128;
    const std::size_t chunk = offset / 16 % 8;
    const std::size_t group = swizzle == CU_TENSOR_MAP_SWIZZLE_128B  ? 8
                              : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 4
                              : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 2
                                                                     : 1;
    const std::size_t moved = chunk / group * group + ((chunk % group) ^ (line % group));
    return line * 128 + moved * 16 + offset % 16;
  }
};

inline TensorCase random_case(unsigned seed, CUtensorMapSwizzle swizzle) {
  static constexpr struct {
    CUtensorMapDataType type;
    std::size_t bytes;
  } types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1},   {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2},
               {CU_TENSOR_MAP_DATA_TYPE_INT32, 4},   {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4},
               {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8}, {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2}};
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t n) { return random() % n; };
  TensorCase c;
  const auto& type = types[seed % 6];
  c.type = type.type;
  c.element = type.bytes;
  c.rank = 1 + seed % 5;
  c.swizzle = swizzle;
  const std::size_t widest = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 12 : 1u << swizzle;
  for (std::size_t d = 0; d < c.rank; ++d) {
    c.sizes.push_back(d == 0 ? 60 + below(200) : 6 + below(6));
    if (d > 0) {
      const std::size_t inner = d == 1 ? c.sizes[0] * c.element : c.strides.back() * c.sizes[d - 1];
      c.strides.push_back((inner + 15) / 16 * 16 + 16 * below(3));
    }
    c.box.push_back(static_cast<cuuint32_t>(
        d == 0 ? std::min<std::size_t>((1 + below(widest)) * 16 / c.element, 256) : 2 + below(4)));
    c.steps.push_back(static_cast<cuuint32_t>(below(3) == 0 ? 1 + below(3) : 1));
    c.coordinates.push_back(below(2) == 0 ? static_cast<int>(below(4))
                                          : static_cast<int>(below(c.sizes[d] + 4)) - 3);
  }
  if (c.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && below(2) == 0) {
    c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  }
  c.at = static_cast<unsigned>(128 * below(9));
  return c;
}
