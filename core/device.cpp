// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/device.h"

namespace warpmeter {

std::string to_string(const Device& device) {
  return device.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(device.ordinal);
}

bool is_emulated(const Device& device) {
  const auto fact = device.facts.find("emulated");
  return fact != device.facts.end() && fact->second.value == true;
}

}  // namespace warpmeter
