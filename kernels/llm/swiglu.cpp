// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/swiglu.h"

#include <cmath>

#include "kernels/llm/check.h"
#include "kernels/llm/onednn.h"

namespace warpmeter {
namespace {

GateValue silu(double x) { return {x / (1 + std::exp(-x)), exp_error}; }

class Swiglu final : public OneDnnKernel {
 public:
  Swiglu(const RowsShape& shape, std::uint32_t seed)
      : shape_(shape),
        checked_(sampled(shape.rows, 16, seed)),
        gate_(add({"gate", Role::input, shape.type, shape.rows * shape.columns})),
        up_(add({"up", Role::input, shape.type, shape.rows * shape.columns})),
        y_(add({"y", Role::output, shape.type, shape.rows * shape.columns})),
        one_(add({"one", Role::input, Element::f32, 1})) {
    fill_normal(gate_, seed, 2);
    fill_normal(up_, seed + 1, 1);
    one_.f32()[0] = 1;
    build();
  }

  void verify() const override { check_swiglu(shape_, checked_, separate(shape_, gate_, up_), y_); }

  Json conditions() const override {
    Json json = OneDnnKernel::conditions();
    json["checked_results"] = static_cast<std::int64_t>(checked_.size()) * shape_.columns;
    return json;
  }

 private:
  void build() {
    using dnnl::memory;
    const memory::desc matrix({shape_.rows, shape_.columns}, data_type(shape_.type),
                              memory::format_tag::ab);
    const memory::desc scalar({1, 1}, memory::data_type::f32, memory::format_tag::ab);
    dnnl::post_ops after;
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.0f, 0.0f);
    after.append_binary(dnnl::algorithm::binary_mul, matrix);
    dnnl::primitive_attr attribute = attributes();
    attribute.set_post_ops(after);
    const dnnl::binary::primitive_desc description(
        {dnnl::algorithm::binary_mul, matrix, scalar, matrix}, attribute, cpu_engine());
    add_step(description, dnnl::binary(description),
             {{DNNL_ARG_SRC_0, view(matrix, gate_)},
              {DNNL_ARG_SRC_1, view(scalar, one_)},
              {DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, view(matrix, up_)},
              {DNNL_ARG_DST, view(matrix, y_)}});
  }

  RowsShape shape_;
  std::vector<std::int64_t> checked_;
  Operand &gate_, &up_, &y_, &one_;
};

}  // namespace

void check_swiglu(const RowsShape& shape, std::span<const std::int64_t> rows,
                  const GatedInput& input, const Operand& y) {
  check_gated("swiglu", silu, shape, rows, input, y);
}

Work swiglu_work(const RowsShape& shape) {
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 4 * elements;
  work.ops["exp"] = elements;
  work.bytes_read = 2 * elements * e;
  work.bytes_written = elements * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::unique_ptr<Kernel> make_swiglu(const RowsShape& shape, std::uint32_t seed) {
  return std::make_unique<Swiglu>(shape, seed);
}

}  // namespace warpmeter
