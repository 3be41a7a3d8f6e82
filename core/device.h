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

// True for a device of the emulated GPU, by its facts: nothing measured on it may pass for
// hardware, and its clock is virtual, so that load on this host does not disturb it.
bool is_emulated(const Device& device);

}  // namespace warpmeter
