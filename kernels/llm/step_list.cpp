// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/step_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::int64_t most_tokens = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t most_decode_rows = 64;  // what kernel.gemm.decode takes

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The largest number of ranks below `ranks` that divides `whole`.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t ranks) {
  std::int64_t nearest = std::min(whole, ranks);
  while (whole % nearest != 0) --nearest;
  return nearest;
}

std::int64_t divided(std::int64_t whole, std::int64_t ranks, const char* what, const char* option) {
  if (whole % ranks == 0) return whole / ranks;
  throw InputError(fmt::format("{} {} cannot be divided over {} {}; nearest: {} {}", whole, what,
                               option, ranks, option, nearest_divisor(whole, ranks)));
}

// Each KV head on one rank, or on several.
std::int64_t kv_share(const ModelConfig& model, std::int64_t ranks) {
  if (model.latent) return 0;
  if (ranks > model.kv_heads && ranks % model.kv_heads == 0) return 1;
  return divided(model.kv_heads, ranks, "KV heads", "--tp");
}

std::int64_t token_count(const StepOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"--batch", options.batch}, std::pair{"--context", options.context},
        std::pair{"--tp", options.tensor_parallel}, std::pair{"--ep", options.expert_parallel}})
    if (value < 1 || value > most_tokens)
      throw InputError(fmt::format("{} {}: from 1 to {} is possible", name, value, most_tokens));
  if (options.batch > most_tokens / options.context)
    throw InputError(fmt::format("--batch {} of --context {}: more than {} positions",
                                 options.batch, options.context, most_tokens));
  return options.phase == Phase::decode ? options.batch : options.batch * options.context;
}

// Checks expert parallelism and returns into how many pieces each expert is cut.
std::int64_t expert_pieces(const ModelConfig& model, const StepOptions& options) {
  const std::int64_t tp = options.tensor_parallel, ep = options.expert_parallel;
  if (model.experts == 0 && ep > 1)
    throw InputError(
        fmt::format("{} has no experts to divide over --ep {}; nearest: --ep 1", model.name, ep));
  if (std::max(tp, ep) % std::min(tp, ep) != 0)
    throw InputError(fmt::format("--tp {} and --ep {}: one must divide the other; nearest: --ep {}",
                                 tp, ep, ep > tp ? ep / tp * tp : nearest_divisor(tp, ep)));
  return ep < tp ? tp / ep : 1;
}

}  // namespace

Shares::Shares(const ModelConfig& model, const StepOptions& options) {
  const std::int64_t tp = options.tensor_parallel, ep = options.expert_parallel;
  tokens = token_count(options);
  heads = divided(model.heads, tp, "heads", "--tp");
  kv_heads = kv_share(model, tp);
  intermediate = divided(model.intermediate, tp, "feed-forward columns", "--tp");
  shared_intermediate = divided(model.shared_intermediate, tp, "shared-expert columns", "--tp");
  vocabulary = divided(model.vocabulary, tp, "words of the vocabulary", "--tp");
  const std::int64_t pieces = expert_pieces(model, options);
  expert_intermediate =
      divided(model.expert_intermediate, pieces, "columns of an expert", "--tp / --ep =");
  experts = divided(model.experts, ep, "experts", "--ep");
  expert_rows = warpmeter::expert_rows(model, options, 0);
  routed_tokens = rounded_up(tokens, std::min(tp, ep));
  tokens_travel = ep > tp;
}

std::int64_t expert_rows(const ModelConfig& model, const StepOptions& options, std::int64_t rank) {
  const std::int64_t tp = options.tensor_parallel, ep = options.expert_parallel;
  const std::int64_t groups = std::max<std::int64_t>(1, ep / tp);
  const std::int64_t all = token_count(options) * groups * model.experts_per_token;
  return all / ep + (rank < all % ep ? 1 : 0);
}

StepList::StepList(const ModelConfig& model_, const StepOptions& options_)
    : model(model_), options(options_), share(model_, options_) {}

Element StepList::activations() const {
  return options.type == Element::e4m3 ? Element::bf16 : options.type;
}

void StepList::add(const std::string& id, const std::string& layer, Parameters shape,
                   std::int64_t count, const std::string& missing) {
  if (count == 0) return;
  shape.try_emplace("type", to_string(activations()));
  for (StepKernel& kernel : kernels_) {
    if (kernel.id != id || kernel.layer != layer || kernel.shape != shape) continue;
    kernel.count += count;
    return;
  }
  kernels_.push_back({id, layer, std::move(shape), count, missing});
}

void StepList::quantize(const std::string& layer, std::int64_t rows, std::int64_t columns,
                        std::int64_t count, Element type) {
  if (type != Element::e4m3) return;
  add("kernel.quantize.token", layer + ".input",
      {{"rows", double(rows)}, {"columns", double(columns)}}, count);
}

void StepList::linear(const std::string& layer, std::int64_t m, std::int64_t n, std::int64_t k,
                      std::int64_t count, Element type) {
  quantize(layer, m, k, count, type);
  const char* half = m <= most_decode_rows ? "kernel.gemm.decode" : "kernel.gemm.prefill";
  add(type == Element::e4m3 ? "kernel.gemm.fp8" : half, layer,
      {{"m", double(m)}, {"n", double(n)}, {"k", double(k)}, {"type", to_string(type)}}, count);
  weights_ += double(n) * double(k) * double(count);
}

// Active are the groups with at least one row: all tokens pass one by with the probability
// (1 - share_of_token)^tokens.
void StepList::grouped(const std::string& layer, std::int64_t groups, std::int64_t group_rows,
                       std::int64_t n, std::int64_t k, std::int64_t count, Element type,
                       double share_of_token) {
  quantize(layer, group_rows, k, count, type);
  const double tokens = double(group_rows) / (share_of_token * double(groups));
  const double active = double(groups) * (1 - std::pow(1 - share_of_token, tokens));
  add("kernel.gemm.grouped", layer,
      {{"experts", double(groups)},
       {"active", std::clamp(std::round(active), 1.0, double(std::min(groups, group_rows)))},
       {"rows", double(group_rows)},
       {"n", double(n)},
       {"k", double(k)},
       {"type", to_string(type)}},
      count);
  weights_ += double(groups) * double(n) * double(k) * double(count);
}

void StepList::rows(const std::string& id, const std::string& layer, std::int64_t rows,
                    std::int64_t columns, std::int64_t count) {
  add(id, layer, {{"rows", double(rows)}, {"columns", double(columns)}}, count);
}

void StepList::norm(const std::string& id, const std::string& layer, std::int64_t row_count,
                    std::int64_t columns, std::int64_t count) {
  rows(id, layer, row_count, columns, count);
  weights_ += double(columns) * double(count);
}

void StepList::all_reduce(const std::string& layer, std::int64_t columns, std::int64_t count) {
  if (options.tensor_parallel == 1) return;
  add("kernel.all_reduce.one_shot", layer,
      {{"size", double(share.tokens * columns) * double(bytes_of(activations()))},
       {"ranks", double(options.tensor_parallel)}},
      count);
}

}  // namespace warpmeter
