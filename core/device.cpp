// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/device.h"

namespace warpmeter {

std::string to_string(const Device& device) {
  return device.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(device.ordinal);
}

}  // namespace warpmeter
