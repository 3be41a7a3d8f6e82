// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_params.h"

namespace warpmeter {

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

}  // namespace warpmeter
