// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/llm/check.h"
#include "kernels/llm/onednn.h"

namespace warpmeter {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

double score_scale(std::int64_t head_size) { return 1 / std::sqrt(static_cast<double>(head_size)); }

// Scores of the row in double precision, and a bound of their errors in f32.
std::vector<double> exact_scores(const AttentionRow& row, const Operand& q, const Operand& k,
                                 double& error) {
  std::vector<double> score(static_cast<std::size_t>(row.context));
  error = 0;
  for (std::int64_t t = 0; t < row.context; ++t) {
    const std::int64_t key = row.key(t);
    double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < row.key_size; ++i) {
      const double product = q.at(row.q + i) * k.at(key + i);
      sum += product;
      magnitude += std::abs(product);
    }
    score[static_cast<std::size_t>(t)] = row.score_scale * sum;
    error = std::max(error, sum_roundoff(row.key_size) * row.score_scale * magnitude);
  }
  return score;
}

class Attention final : public OneDnnKernel {
 public:
  Attention(const AttentionShape& s, std::uint32_t seed, double scale)
      : shape_(s),
        pairs_(sampled(s.batch * s.heads, 8, seed)),
        q_(add({"q", Role::input, s.type, s.batch * s.heads * s.head_size})),
        k_(add({"k", Role::input, s.type, s.batch * s.kv_heads * s.context * s.head_size})),
        v_(add({"v", Role::input, s.type, s.batch * s.kv_heads * s.context * s.head_size})),
        o_(add({"o", Role::output, s.type, s.batch * s.heads * s.head_size})),
        scores_(add({"scores", Role::scratch, Element::f32, s.batch * s.heads * s.context})),
        probabilities_(add({"probabilities", Role::scratch, s.type, scores_.count})) {
    fill_normal(q_, seed, 1);
    fill_normal(k_, seed + 1, 1);
    fill_normal(v_, seed + 2, 1);
    build(static_cast<float>(scale));
  }

  void verify() const override { check_attention(shape_, pairs_, q_, k_, v_, o_); }

  Json conditions() const override {
    Json json = OneDnnKernel::conditions();
    json["weights_format"] = "[batch, kv_heads, context, head_size]";
    json["checked_results"] = static_cast<std::int64_t>(pairs_.size()) * shape_.head_size;
    return json;
  }

 private:
  void build(float scale) {
    const std::int64_t groups = shape_.heads / shape_.kv_heads;
    const std::int64_t batch = shape_.batch * shape_.kv_heads;
    const std::int64_t context = shape_.context, size = shape_.head_size;
    const auto type = data_type(shape_.type);
    const memory::desc q({batch, groups, size}, type, Tag::abc);
    const memory::desc k({batch, size, context}, type, Tag::acb);  // K^T of a plain K
    const memory::desc s({batch, groups, context}, memory::data_type::f32, Tag::abc);
    const memory::desc p({batch, groups, context}, type, Tag::abc);
    const memory::desc v({batch, context, size}, type, Tag::abc);
    const memory::desc o({batch, groups, size}, type, Tag::abc);
    dnnl::primitive_attr scaled = attributes();
    scaled.set_output_scales(0, {scale});

    const dnnl::matmul::primitive_desc qk(dnnl::matmul::desc(q, k, s), scaled, cpu_engine());
    add_step(qk, dnnl::matmul(qk),
             {{DNNL_ARG_SRC, view(q, q_)},
              {DNNL_ARG_WEIGHTS, view(k, k_)},
              {DNNL_ARG_DST, view(s, scores_)}});
    const dnnl::softmax_v2_forward::primitive_desc softmax(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, s, p, 2},
        attributes(), cpu_engine());
    add_step(softmax, dnnl::softmax_v2_forward(softmax),
             {{DNNL_ARG_SRC, view(s, scores_)}, {DNNL_ARG_DST, view(p, probabilities_)}});
    const dnnl::matmul::primitive_desc pv(dnnl::matmul::desc(p, v, o), attributes(), cpu_engine());
    add_step(pv, dnnl::matmul(pv),
             {{DNNL_ARG_SRC, view(p, probabilities_)},
              {DNNL_ARG_WEIGHTS, view(v, v_)},
              {DNNL_ARG_DST, view(o, o_)}});
  }

  AttentionShape shape_;
  std::vector<std::int64_t> pairs_;
  Operand &q_, &k_, &v_, &o_, &scores_, &probabilities_;
};

}  // namespace

void check_attention_row(const AttentionRow& row, const Operand& q, const Operand& k,
                         const Operand& v, const Operand& o) {
  double score_error = 0;
  const std::vector<double> score = exact_scores(row, q, k, score_error);
  const double top = *std::max_element(score.begin(), score.end());
  double total = 0;
  std::vector<double> sum(static_cast<std::size_t>(row.value_size)), magnitude(sum.size());
  for (std::int64_t t = 0; t < row.context; ++t) {
    const double weight = std::exp(score[static_cast<std::size_t>(t)] - top);
    const std::int64_t value = row.value(t);
    total += weight;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double x = row.value_scale * v.at(value + static_cast<std::int64_t>(i));
      sum[i] += weight * x;
      magnitude[i] += weight * std::abs(x);
    }
  }
  const double store = store_roundoff(o.type);
  const double relative = 2 * score_error + exp_error + 2 * store + sum_roundoff(row.context);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const std::int64_t at = row.o + static_cast<std::int64_t>(i);
    const double expected = sum[i] / total;
    require_close("attention", at, o.at(at), expected,
                  relative * magnitude[i] / total + store * std::abs(expected));
  }
}

void check_attention(const AttentionShape& shape, std::span<const std::int64_t> pairs,
                     const Operand& q, const Operand& k, const Operand& v, const Operand& o) {
  require_written(o);
  const std::int64_t size = shape.head_size, group = shape.heads / shape.kv_heads;
  for (const std::int64_t pair : pairs) {
    const std::int64_t cache = pair / group * shape.context * size;
    const auto at = [=](std::int64_t position) { return cache + position * size; };
    check_attention_row(
        {pair * size, pair * size, shape.context, size, size, score_scale(size), 1, at, at}, q, k,
        v, o);
  }
}

void check_causal_attention(const AttentionShape& shape, const AttentionLayout& layout,
                            std::span<const std::int64_t> queries, const Operand& q,
                            const Operand& k, const Operand& v, const Operand& o) {
  require_written(o);
  const std::int64_t size = shape.head_size, group = shape.heads / shape.kv_heads;
  for (const std::int64_t query : queries) {
    const std::int64_t token = query % shape.context, pair = query / shape.context;
    const std::int64_t sequence = pair / shape.heads, head = pair % shape.heads;
    const auto rows = [&](const HeadRows& of) {
      return [=](std::int64_t position) { return row_at(of, sequence, position, head / group); };
    };
    check_attention_row(
        {row_at(layout.q, sequence, token, head), row_at(layout.o, sequence, token, head),
         token + 1, size, size, score_scale(size), 1, rows(layout.k), rows(layout.v)},
        q, k, v, o);
  }
}

void check_paged_attention(const DecodeShape& shape, std::span<const std::int64_t> pairs,
                           const PagedOperands& p) {
  require_written(p.o);
  const std::int64_t size = shape.head_size, group = shape.heads / shape.kv_heads;
  const bool scaled = shape.cache == Element::e4m3;
  for (const std::int64_t pair : pairs) {
    const std::int64_t sequence = pair / shape.heads, kv = pair % shape.heads / group;
    const auto row = [&](std::int64_t position) {
      const std::int64_t entry = sequence * pages_per_sequence(shape) + position / shape.page;
      const std::int64_t page = p.block_table.i32()[entry];
      return ((page * shape.kv_heads + kv) * shape.page + position % shape.page) * size;
    };
    const std::int64_t q = sequence * packed_row(shape) + pair % shape.heads * size;
    check_attention_row(
        {q, pair * size, p.lengths.i32()[sequence], size, size,
         score_scale(size) * (scaled ? p.scales.at(0) : 1), scaled ? p.scales.at(1) : 1, row, row},
        p.q, p.k, p.v, p.o);
  }
}

Work paged_attention_work(const DecodeShape& s) {
  Work work = attention_work(s);
  const auto cache = static_cast<double>(bytes_of(s.cache));
  const auto pages = static_cast<double>(pages_per_sequence(s));
  const auto batch = static_cast<double>(s.batch);
  const double position = 2 * batch * static_cast<double>(s.kv_heads * s.head_size) * cache;
  const double parts = static_cast<double>(s.batch * s.heads * attention_splits(s.context));
  const bool scaled = s.cache == Element::e4m3;
  if (scaled) work.ops["f32"] += static_cast<double>(s.batch * s.heads * s.head_size);
  work.bytes_read = work.bytes_written + position * static_cast<double>(s.context) +
                    4 * batch * (pages + 1) + (scaled ? 8 : 0);
  work.working_set =
      work.bytes_read + work.bytes_written + 4 * parts * static_cast<double>(s.head_size + 2) +
      position * (pages * static_cast<double>(s.page) - static_cast<double>(s.context));
  work.launches = 2;
  return work;
}

Work causal_attention_work(const AttentionShape& shape) {
  const auto context = static_cast<double>(shape.context);
  const auto size = static_cast<double>(shape.head_size);
  const double queries = static_cast<double>(shape.batch * shape.heads) * context;
  const double scores = queries * (context + 1) / 2;
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 5 * scores - queries;
  work.ops[to_string(shape.type)] += 4 * scores * size;
  work.ops["exp"] = scores;
  work.bytes_written = queries * size * e;
  work.bytes_read = work.bytes_written +
                    2 * static_cast<double>(shape.batch * shape.kv_heads) * context * size * e;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

Work attention_work(const AttentionShape& shape) {
  const auto rows = static_cast<double>(shape.batch * shape.heads);
  const auto size = static_cast<double>(shape.head_size);
  const double scores = rows * static_cast<double>(shape.context);
  const double cache = 2 * static_cast<double>(shape.batch * shape.kv_heads * shape.context) * size;
  const auto e = static_cast<double>(bytes_of(shape.type));
  Work work;
  work.ops["f32"] = 5 * scores - rows;
  work.ops[to_string(shape.type)] += 4 * scores * size;
  work.ops["exp"] = scores;
  work.bytes_read = (rows * size + cache) * e;
  work.bytes_written = rows * size * e;
  work.working_set = work.bytes_read + work.bytes_written + scores * (4 + e);
  work.launches = 3;
  return work;
}

std::unique_ptr<Kernel> make_attention(const AttentionShape& shape, std::uint32_t seed,
                                       double scale) {
  return std::make_unique<Attention>(shape, seed, scale);
}

std::unique_ptr<Kernel> make_attention(const AttentionShape& shape, std::uint32_t seed) {
  return make_attention(shape, seed, score_scale(shape.head_size));
}

}  // namespace warpmeter
