// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/json.h"

namespace warpmeter {

// What a kernel must do at least, for one launch; the formula stands in the header comment of each
// kernel.
struct Work {
  // Operations per pipe: "f64", "f32", "bf16", "int8" count a multiply-add as two; "exp" counts
  // calls of the exponential.
  std::map<std::string, double> ops;
  double bytes_read = 0;     // B, compulsory: each operand once
  double bytes_written = 0;  // B, compulsory: each result once
  double working_set = 0;    // B, all operands and results that one launch touches
  double launches = 1;       // parallel regions (host) or kernel launches (GPU)
  double link_bytes = 0;     // B, from other devices' memory; collectives only
  double tiles = 0;          // of the result, a block each at a time; 0: not tiled. On n SMs with r
                             // such blocks each they take ceil(tiles / (n r)) waves
  bool operator==(const Work&) const = default;
};

Json to_json(const Work& work);
Work work_from_json(const Json& object,
                    std::string_view where);  // Throws InputError on a missing or negative number.

}  // namespace warpmeter
