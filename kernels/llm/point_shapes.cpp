// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/point_shapes.h"

#include "core/error.h"

namespace warpmeter {

std::int64_t count(const Parameters& point, const std::string& name) {
  const std::optional<double> value = number(point, name);
  if (!value || *value < 1 || *value != static_cast<double>(static_cast<std::int64_t>(*value)))
    throw InputError("kernel point " + to_string(point) + ": " + name + " must be a count");
  return static_cast<std::int64_t>(*value);
}

Element type_of(const Parameters& point) {
  return parse_element(word(point, "type").value_or("none"));
}

GemmShape gemm_shape(const Parameters& p) {
  return {count(p, "m"), count(p, "n"), count(p, "k"), type_of(p)};
}

GroupedGemmShape grouped_gemm_shape(const Parameters& p) {
  return {count(p, "rows"), count(p, "experts"), count(p, "active"),
          count(p, "n"),    count(p, "k"),       type_of(p)};
}

AttentionShape attention_shape(const Parameters& p) {
  return {count(p, "batch"),     count(p, "heads"),   count(p, "kv_heads"),
          count(p, "head_size"), count(p, "context"), type_of(p)};
}

RowsShape rows_shape(const Parameters& p) {
  return {count(p, "rows"), count(p, "columns"), type_of(p)};
}

RopeShape rope_shape(const Parameters& p) {
  const std::int64_t stride = number(p, "stride") ? count(p, "stride") : 0;
  return {count(p, "rows"), count(p, "heads"), count(p, "head_size"), type_of(p), stride};
}

KvAppendShape kv_append_shape(const Parameters& p) {
  const std::int64_t stride = number(p, "stride") ? count(p, "stride") : 0;
  return {count(p, "rows"),
          count(p, "batch"),
          count(p, "heads"),
          count(p, "kv_heads"),
          count(p, "head_size"),
          count(p, "page_size"),
          type_of(p),
          parse_element(word(p, "cache").value_or("none")),
          stride};
}

SampleShape sample_shape(const Parameters& p) {
  const std::int64_t top_k = number(p, "top_k").value_or(0) > 0 ? count(p, "top_k") : 0;
  return {count(p, "rows"),
          count(p, "vocabulary"),
          top_k,
          number(p, "top_p").value_or(1),
          number(p, "temperature").value_or(1),
          type_of(p)};
}

GatherShape gather_shape(const Parameters& p) {
  return {count(p, "rows"), count(p, "columns"), count(p, "vocabulary"), type_of(p)};
}

}  // namespace warpmeter
