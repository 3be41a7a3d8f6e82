// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/rms_norm.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/llm/check.h"
#include "kernels/llm/vectorized.h"

namespace warpmeter {
namespace {

WARPMETER_VECTORIZED
void norm_row(const float* x, const float* gain, float* y, std::int64_t columns) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t c = 0; c < columns; ++c) squares += x[c] * x[c];
  const float scale = 1 / std::sqrt(squares / static_cast<float>(columns) + rms_epsilon);
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) y[c] = x[c] * scale * gain[c];
}

// bf16 points run only where AVX512_BF16 exists (table.cpp). Left to the compiler, the conversions
// would take longer than the f32 kernel does for twice the bytes.
#define WARPMETER_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

WARPMETER_AVX512_BF16
inline __m512 load_bf16(const std::uint16_t* at, __mmask16 lanes) {
  // The maskz forms, because GCC 12 warns about its own plain ones (bug 105593).
  const __m512i bits = _mm512_maskz_cvtepu16_epi32(lanes, _mm256_maskz_loadu_epi16(lanes, at));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(lanes, bits, 16));
}

constexpr __mmask16 all_lanes = 0xffff;

WARPMETER_AVX512_BF16
inline __m512 add_square(const std::uint16_t* x, __m512 sum, __mmask16 lanes) {
  const __m512 value = load_bf16(x, lanes);
  return _mm512_fmadd_ps(value, value, sum);
}

WARPMETER_AVX512_BF16
inline void scale_bf16(const std::uint16_t* x, const std::uint16_t* gain, std::uint16_t* y,
                       __m512 scale, __mmask16 lanes) {
  const __m512 value = load_bf16(x, lanes) * scale * load_bf16(gain, lanes);
  _mm256_mask_storeu_epi16(y, lanes, (__m256i)_mm512_cvtneps_pbh(value));
}

WARPMETER_AVX512_BF16
void norm_row_bf16(const std::uint16_t* x, const std::uint16_t* gain, std::uint16_t* y,
                   std::int64_t columns) {
  const std::int64_t whole = columns / 16 * 16;
  const auto rest = static_cast<__mmask16>((1 << (columns - whole)) - 1);
  __m512 even = _mm512_setzero_ps(), odd = even;  // two, to hide the latency of the multiply-add
  std::int64_t at = 0;
  for (; at + 32 <= whole; at += 32) {
    even = add_square(x + at, even, all_lanes);
    odd = add_square(x + at + 16, odd, all_lanes);
  }
  if (at < whole) odd = add_square(x + at, odd, all_lanes);
  even = add_square(x + whole, even, rest);
  float lane[16];
  _mm512_storeu_ps(lane, even + odd);
  const float sum = std::accumulate(std::begin(lane), std::end(lane), 0.0f);
  const __m512 scale =
      _mm512_set1_ps(1 / std::sqrt(sum / static_cast<float>(columns) + rms_epsilon));
  for (std::int64_t c = 0; c < whole; c += 16) scale_bf16(x + c, gain + c, y + c, scale, all_lanes);
  scale_bf16(x + whole, gain + whole, y + whole, scale, rest);
}

void check_row(const RowsShape& shape, std::int64_t begin, const Operand& x, const Operand& gain,
               const Operand& y) {
  const double relative =
      sum_roundoff(shape.columns) + 8 * unit_roundoff(Element::f32) + store_roundoff(shape.type);
  double squares = 0;
  for (std::int64_t c = 0; c < shape.columns; ++c) squares += x.at(begin + c) * x.at(begin + c);
  const double root = std::sqrt(squares / static_cast<double>(shape.columns) + double{rms_epsilon});
  for (std::int64_t c = 0; c < shape.columns; ++c) {
    const double expected = x.at(begin + c) * gain.at(c) / root;
    require_close("rms_norm", begin + c, y.at(begin + c), expected,
                  relative * std::abs(expected) + store_floor(shape.type));
  }
}

class RmsNorm final : public Kernel {
 public:
  RmsNorm(const RowsShape& shape, std::uint32_t seed)
      : shape_(shape),
        checked_(sampled(shape.rows, 16, seed)),
        x_(add({"x", Role::input, shape.type, shape.rows * shape.columns})),
        gain_(add({"gain", Role::input, shape.type, shape.columns})),
        y_(add({"y", Role::output, shape.type, shape.rows * shape.columns})) {
    fill_activations(x_, shape.columns, seed);
    fill_normal(gain_, seed + 1, 1);
  }

  void execute() override {
    const std::int64_t rows = shape_.rows, columns = shape_.columns;
#pragma omp parallel for schedule(static)
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * columns;
      if (shape_.type == Element::bf16)
        norm_row_bf16(x_.bf16() + at, gain_.bf16(), y_.bf16() + at, columns);
      else
        norm_row(x_.f32() + at, gain_.f32(), y_.f32() + at, columns);
    }
  }

  void verify() const override { check_rms_norm(shape_, checked_, x_, gain_, y_); }

  Json conditions() const override {
    Json json;
    json["implementation"] = "OpenMP loop";
    json["checked_results"] = static_cast<std::int64_t>(checked_.size()) * shape_.columns;
    return json;
  }

 private:
  RowsShape shape_;
  std::vector<std::int64_t> checked_;
  Operand &x_, &gain_, &y_;
};

}  // namespace

void check_rms_norm(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                    const Operand& gain, const Operand& y) {
  require_written(y);
  for (const std::int64_t row : rows) check_row(shape, row * shape.columns, x, gain, y);
}

Work rms_norm_work(const RowsShape& shape) {
  const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = rows * (4 * columns + 4);
  work.bytes_read = (rows * columns + columns) * e;
  work.bytes_written = rows * columns * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::unique_ptr<Kernel> make_rms_norm(const RowsShape& shape, std::uint32_t seed) {
  return std::make_unique<RmsNorm>(shape, seed);
}

}  // namespace warpmeter
