// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gemm.h"

#include <cmath>
#include <optional>

#include "kernels/llm/check.h"
#include "kernels/llm/onednn.h"

namespace warpmeter {
namespace {

using dnnl::memory;

constexpr std::int64_t group = 16;  // sampled columns are neighbours: one cache line of f32

class Gemm final : public OneDnnKernel {
 public:
  Gemm(const GemmShape& shape, std::uint32_t seed)
      : shape_(shape),
        activations_(add({"activations", Role::input, shape.type, shape.m * shape.k})),
        result_(add({"result", Role::output, shape.type, shape.m * shape.n})) {
    const auto type = data_type(shape.type);
    const memory::desc a({shape.m, shape.k}, type, memory::format_tag::ab);
    const memory::desc w({shape.k, shape.n}, type, memory::format_tag::ab);
    const memory::desc w_any({shape.k, shape.n}, type, memory::format_tag::any);
    const memory::desc c({shape.m, shape.n}, type, memory::format_tag::ab);
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a, w_any, c), attributes(),
                                                   cpu_engine());
    const memory::desc blocked = description.weights_desc();
    const Operand& weights =
        add({"weights", Role::input, shape.type, shape.k * shape.n, blocked.get_size()});
    fill_activations(activations_, shape.k, seed);
    load_weights(view(blocked, weights), w, seed);
    format_ = format_of(blocked);
    add_step(description, dnnl::matmul(description),
             {{DNNL_ARG_SRC, view(a, activations_)},
              {DNNL_ARG_WEIGHTS, view(blocked, weights)},
              {DNNL_ARG_DST, view(c, result_)}});
  }

  void verify() const override { expected_->check(shape_, result_); }

  Json conditions() const override {
    Json json = OneDnnKernel::conditions();
    json["weights_format"] = format_;
    json["checked_results"] = expected_->sums.size();
    return json;
  }

 private:
  void load_weights(dnnl::memory blocked, const memory::desc& plain_format, std::uint32_t seed) {
    const Operand plain("plain weights", Role::input, shape_.type, shape_.k * shape_.n);
    fill_normal(plain, seed + 1, 1 / std::sqrt(static_cast<double>(shape_.k)));
    dnnl::memory source = view(plain_format, plain);
    dnnl::stream stream(cpu_engine());
    dnnl::reorder(source, blocked).execute(stream, source, blocked);
    stream.wait();
    expected_.emplace(shape_, activations_, plain, shape_.n, 1, seed + 2);
  }

  GemmShape shape_;
  Operand& activations_;
  Operand& result_;
  std::optional<GemmReference> expected_;  // of the plain weights
  std::string format_;
};

}  // namespace

GemmReference::GemmReference(const GemmShape& shape, const Operand& activations,
                             const Operand& weights, std::int64_t k_stride, std::int64_t n_stride,
                             std::uint32_t seed) {
  const bool all = shape.m * shape.n * shape.k <= 1 << 20;
  rows = sampled(shape.m, all ? shape.m : 8, seed);
  const std::int64_t groups = (shape.n + group - 1) / group;
  for (const std::int64_t g : sampled(groups, all ? groups : 4, seed + 1))
    for (std::int64_t c = g * group; c < std::min(shape.n, (g + 1) * group); ++c)
      columns.push_back(c);
  const std::size_t width = columns.size();
  sums.resize(rows.size() * width);
  magnitudes.resize(sums.size());
  std::vector<double> of_columns(width);
  for (std::int64_t k = 0; k < shape.k; ++k) {
    for (std::size_t c = 0; c < width; ++c)
      of_columns[c] = weights.at(k * k_stride + columns[c] * n_stride);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double a = activations.at(rows[r] * shape.k + k);
      for (std::size_t c = 0; c < width; ++c) {
        sums[r * width + c] += a * of_columns[c];
        magnitudes[r * width + c] += std::abs(a * of_columns[c]);
      }
    }
  }
}

double gemm_tolerance(Element type, std::int64_t k, double sum, double magnitude) {
  const double stored = store_roundoff(type) * std::abs(sum);
  const double subnormal = type == Element::f16 ? 0x1p-25 : 0;
  return sum_roundoff(k) * magnitude + stored + subnormal;
}

void ProductReference::check(const GemmShape& shape, const Operand& result) const {
  require_written(result);
  std::size_t i = 0;
  for (const std::int64_t row : rows)
    for (const std::int64_t column : columns) {
      const std::int64_t at = row * shape.n + column;
      require_close("gemm", at, result.at(at), sums[i],
                    gemm_tolerance(shape.type, shape.k, sums[i], magnitudes[i]));
      ++i;
    }
}

Work gemm_work(const GemmShape& shape) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k);
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops[to_string(shape.type)] = 2 * m * n * k;
  work.bytes_read = (m * k + k * n) * e;
  work.bytes_written = m * n * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::unique_ptr<Kernel> make_gemm(const GemmShape& shape, std::uint32_t seed) {
  return std::make_unique<Gemm>(shape, seed);
}

}  // namespace warpmeter
