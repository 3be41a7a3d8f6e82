// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/kernel.h"

#include <stdexcept>

namespace warpmeter {

std::vector<Bytes> Kernel::touched() const {
  std::vector<Bytes> ranges;
  for (const Operand& operand : operands_) ranges.push_back(operand.memory.bytes());
  return ranges;
}

const Operand& Kernel::operand(const std::string& name) const {
  for (const Operand& operand : operands_)
    if (operand.name == name) return operand;
  throw std::out_of_range("kernel has no operand " + name);
}

Operand& Kernel::add(Operand operand) {
  operands_.push_back(std::move(operand));
  return operands_.back();
}

}  // namespace warpmeter
