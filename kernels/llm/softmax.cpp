// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/llm/check.h"
#include "kernels/llm/onednn.h"

namespace warpmeter {
namespace {

void check_row(const RowsShape& shape, std::int64_t begin, const Operand& x, const Operand& y) {
  const std::int64_t end = begin + shape.columns;
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::int64_t i = begin; i < end; ++i) top = std::max(top, x.at(i));
  std::vector<double> weight;
  for (std::int64_t i = begin; i < end; ++i) weight.push_back(std::exp(x.at(i) - top));
  for (const double w : weight) total += w;
  const double relative = exp_error + sum_roundoff(shape.columns) + 2 * store_roundoff(shape.type);
  for (std::int64_t i = begin; i < end; ++i) {
    const double expected = weight[static_cast<std::size_t>(i - begin)] / total;
    require_close("softmax", i, y.at(i), expected, relative * expected + store_floor(shape.type));
  }
}

class Softmax final : public OneDnnKernel {
 public:
  Softmax(const RowsShape& shape, std::uint32_t seed)
      : shape_(shape),
        checked_(sampled(shape.rows, 8, seed)),
        x_(add({"x", Role::input, shape.type, shape.rows * shape.columns})),
        y_(add({"y", Role::output, shape.type, shape.rows * shape.columns})) {
    fill_normal(x_, seed, 3);
    const dnnl::memory::desc matrix({shape.rows, shape.columns}, data_type(shape.type),
                                    dnnl::memory::format_tag::ab);
    const dnnl::softmax_v2_forward::primitive_desc description(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, matrix, matrix, 1},
        attributes(), cpu_engine());
    add_step(description, dnnl::softmax_v2_forward(description),
             {{DNNL_ARG_SRC, view(matrix, x_)}, {DNNL_ARG_DST, view(matrix, y_)}});
  }

  void verify() const override { check_softmax(shape_, checked_, x_, y_); }

  Json conditions() const override {
    Json json = OneDnnKernel::conditions();
    json["checked_results"] = static_cast<std::int64_t>(checked_.size()) * shape_.columns;
    return json;
  }

 private:
  RowsShape shape_;
  std::vector<std::int64_t> checked_;
  Operand &x_, &y_;
};

}  // namespace

void check_softmax(const RowsShape& shape, std::span<const std::int64_t> rows, const Operand& x,
                   const Operand& y) {
  require_written(y);
  for (const std::int64_t row : rows) check_row(shape, row * shape.columns, x, y);
}

Work softmax_work(const RowsShape& shape) {
  const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
  Work work;
  work.ops["f32"] = rows * (4 * columns - 1);
  work.ops["exp"] = rows * columns;
  work.bytes_read = work.bytes_written = rows * columns * static_cast<double>(bytes_of(shape.type));
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::unique_ptr<Kernel> make_softmax(const RowsShape& shape, std::uint32_t seed) {
  return std::make_unique<Softmax>(shape, seed);
}

}  // namespace warpmeter
