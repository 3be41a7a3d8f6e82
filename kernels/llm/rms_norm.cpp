// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/rms_norm.h"

#include <cmath>

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

WARPMETER_VECTORIZED
void norm_row_bf16(const std::uint16_t* x, const std::uint16_t* gain, std::uint16_t* y,
                   std::int64_t columns) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t c = 0; c < columns; ++c) squares += bf16_to_float(x[c]) * bf16_to_float(x[c]);
  const float scale = 1 / std::sqrt(squares / static_cast<float>(columns) + rms_epsilon);
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c)
    y[c] = float_to_bf16(bf16_to_float(x[c]) * scale * bf16_to_float(gain[c]));
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

  void verify() const override {
    require_written(y_);
    const double relative = sum_roundoff(shape_.columns) + 8 * unit_roundoff(Element::f32) +
                            store_roundoff(shape_.type);
    for (const std::int64_t row : checked_) {
      const std::int64_t begin = row * shape_.columns;
      double squares = 0;
      for (std::int64_t c = 0; c < shape_.columns; ++c)
        squares += x_.at(begin + c) * x_.at(begin + c);
      const double root =
          std::sqrt(squares / static_cast<double>(shape_.columns) + double{rms_epsilon});
      for (std::int64_t c = 0; c < shape_.columns; ++c) {
        const double expected = x_.at(begin + c) * gain_.at(c) / root;
        require_close("rms_norm", begin + c, y_.at(begin + c), expected,
                      relative * std::abs(expected));
      }
    }
  }

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
