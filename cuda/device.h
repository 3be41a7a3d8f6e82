// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "core/facts.h"
#include "core/json.h"

namespace warpmeter {

// All CUDA devices with their facts. Never throws: with none, `why_none` says why in one line ("no
// CUDA driver: libcuda.so.1 not found"), else it is empty.
std::vector<Device> find_cuda_devices(std::string& why_none);

// What the runtime, NVML and /sys say of one device; docs/cuda_benchmarks.md lists the names.
// Throws CudaError if there is no such device.
Facts read_cuda_facts(int ordinal);

// Temperature, power and clock reasons now (Nvml::state), or {nvml: why not}.
Json device_state(const Device& device);

}  // namespace warpmeter
