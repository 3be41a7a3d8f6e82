// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

#include "core/facts.h"

namespace warpmeter {

enum class DeviceKind { cpu, cuda };

// What is measured: "cpu" or "cuda:N", with its facts.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int ordinal = 0;
  Facts facts;
};

std::string to_string(const Device& device);

}  // namespace warpmeter
