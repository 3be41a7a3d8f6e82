// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/moe_route.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

// All experts of a token, by falling logit; equal ones keep their order.
std::vector<std::int64_t> ranked(const RouteShape& shape, std::int64_t token,
                                 const Operand& logits) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(shape.experts));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int64_t expert) {
    return logits.at(token * shape.experts + expert);
  });
  return order;
}

}  // namespace

Work moe_route_work(const RouteShape& shape) {
  const auto tokens = static_cast<double>(shape.tokens), top = static_cast<double>(shape.top);
  Work work;
  work.ops["f32"] = 3 * tokens * top;
  work.ops["exp"] = tokens * top;
  work.bytes_read =
      tokens * static_cast<double>(shape.experts) * static_cast<double>(bytes_of(shape.type));
  work.bytes_written = 8 * tokens * top;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

void check_moe_route(const RouteShape& shape, const Operand& logits, const Operand& ids,
                     const Operand& weights) {
  const double relative = exp_error + sum_roundoff(shape.top);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    const std::vector<std::int64_t> order = ranked(shape, token, logits);
    std::vector<double> expected;
    for (std::int64_t j = 0; j < shape.top; ++j) {
      const std::int64_t at = token * shape.experts;
      const std::int64_t expert = order[static_cast<std::size_t>(j)];
      require_close("expert", token * shape.top + j, ids.at(token * shape.top + j),
                    static_cast<double>(expert), 0);
      expected.push_back(std::exp(logits.at(at + expert) - logits.at(at + order[0])));
    }
    const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
    for (std::int64_t j = 0; j < shape.top; ++j) {
      const double weight = expected[static_cast<std::size_t>(j)] / sum;
      require_close("weight", token * shape.top + j, weights.at(token * shape.top + j), weight,
                    relative * weight);
    }
  }
}

}  // namespace warpmeter
