// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <driver_types.h>

#include <optional>

#include "emulator/machine/chip.h"

namespace emulator {

cudaDeviceProp device_properties(const Chip& chip, int device);
// Nothing for an attribute that this GPU does not know.
std::optional<int> device_attribute(const Chip& chip, int device, cudaDeviceAttr attribute);

}  // namespace emulator
