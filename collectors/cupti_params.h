// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpmeter {

// CUPTI's parameter structs: zero, and as long as the header in use says.
template <typename Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names);

}  // namespace warpmeter
