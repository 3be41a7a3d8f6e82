// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>

#include "core/measurement.h"
#include "kernels/llm/shapes.h"

namespace warpmeter {

// What the parameters of a point (points.h) say. All throw InputError if one is missing or no count
// of at least 1.
std::int64_t count(const Parameters& point, const std::string& name);
Element type_of(const Parameters& point);
GemmShape gemm_shape(const Parameters& point);
GroupedGemmShape grouped_gemm_shape(const Parameters& point);
AttentionShape attention_shape(const Parameters& point);
RowsShape rows_shape(const Parameters& point);
RopeShape rope_shape(const Parameters& point);
GatherShape gather_shape(const Parameters& point);
KvAppendShape kv_append_shape(const Parameters& point);
SampleShape sample_shape(const Parameters& point);

}  // namespace warpmeter
