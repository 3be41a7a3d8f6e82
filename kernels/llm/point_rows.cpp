// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/point_rows.h"

namespace warpmeter {

Parameters point_of(const char* kernel, const char* family, const LlmModel& model,
                    const char* split, const char* type, const char* residency, int threads) {
  return {
      {"kernel", kernel}, {"family", family},       {"model", model.name},       {"split", split},
      {"type", type},     {"residency", residency}, {"threads", double(threads)}};
}

std::vector<Parameters> rows_points(std::span<const RowsPoint> rows, const char* kernel,
                                    const char* family, int threads, Effort effort) {
  std::vector<Parameters> points;
  for (const RowsPoint& row : rows) {
    if (row.from > effort) continue;
    Parameters point =
        point_of(kernel, family, row.model, row.split, row.type, row.residency, threads);
    point["rows"] = double(row.rows);
    point["columns"] = double(row.columns);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace warpmeter
