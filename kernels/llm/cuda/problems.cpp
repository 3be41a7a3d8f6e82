// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/problems.h"

namespace warpmeter {

Operand& add(Problem& problem, const char* name, Role role, Element type, std::int64_t count) {
  return problem.operands.emplace_back(name, role, type, count);
}

}  // namespace warpmeter
