// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/all_reduce.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/llm/check.h"

namespace warpmeter {

Work all_reduce_work(const AllReduceShape& shape) {
  const auto count = static_cast<double>(shape.count);
  const double bytes = count * static_cast<double>(bytes_of(shape.type)), others = shape.ranks - 1;
  Work work;
  work.ops["f32"] = others * count;
  work.bytes_read = work.bytes_written = bytes;
  work.working_set = 2 * bytes;
  work.link_bytes = others * bytes;
  return work;
}

double all_reduce_bus_bandwidth(const AllReduceShape& shape, double seconds) {
  const double bytes = static_cast<double>(shape.count) * static_cast<double>(bytes_of(shape.type));
  return 2.0 * (shape.ranks - 1) / shape.ranks * bytes / seconds;
}

void check_all_reduce(const AllReduceShape& shape, std::span<const Operand* const> x,
                      std::span<const Operand* const> y, int roundings) {
  require_written(*y[0]);
  for (std::int64_t i = 0; i < shape.count; ++i) {
    double sum = 0, magnitude = 0;
    for (const Operand* vector : x) {
      sum += vector->at(i);
      magnitude += std::abs(vector->at(i));
    }
    require_close("sum of all ranks", i, y[0]->at(i), sum,
                  sum_roundoff(shape.ranks) * magnitude +
                      store_roundoff(shape.type) * std::abs(sum) +
                      (roundings - 1) * store_roundoff(shape.type) * magnitude);
  }
  for (std::size_t rank = 1; rank < y.size(); ++rank)
    if (std::memcmp(y[0]->memory.data(), y[rank]->memory.data(), y[0]->memory.size()) != 0)
      throw std::runtime_error(
          fmt::format("corrupt: all-reduce: ranks 0 and {} have different results", rank));
}

}  // namespace warpmeter
