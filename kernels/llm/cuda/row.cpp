// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/row.h"

namespace warpmeter {

Refusal too_large(const Device& device, const Work& work) {
  const double memory = fact_number(device.facts, "memory.total").value_or(0);
  const double needed = 1.1 * work.working_set;
  if (memory == 0 || needed <= memory) return std::nullopt;
  return fmt::format("needs {} of device memory, the device has {}", format_bytes(needed),
                     format_bytes(memory));
}

Refusal answer_once(std::map<int, Refusal>& answers, const Device& device, Refusal (*ask)()) {
  const auto known = answers.find(device.ordinal);
  if (known != answers.end()) return known->second;
  const DeviceGuard guard(device.ordinal);
  return answers[device.ordinal] = ask();
}

}  // namespace warpmeter
