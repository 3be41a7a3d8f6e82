// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Which call or field of NVML gives which quantity; numbers and units from NVIDIA's NVML API
// Reference Guide (field values, GPM metrics).
#pragma once

#include <cstddef>
#include <vector>

#include "core/unit.h"
#include "cuda/nvml_api.h"

namespace warpmeter {

// One row; docs/access.md says what each means. Its value is number * scale + offset, where the
// number comes from one of: a call, a field of nvmlDeviceGetFieldValues, or a metric of GPM.
struct NvmlQuantity {
  const char* name;
  Unit unit;
  double scale = 1, offset = 0;
  int (*read)(const NvmlApi&, NvmlDevice, double& number) = nullptr;  // nvmlReturn_t
  unsigned int field = 0, scope = 0;                                  // NVML_FI_...
  bool counter = false;  // the field only grows: the value is its growth
  unsigned int gpm = 0;  // nvmlGpmMetricId_t

  const char* source() const { return gpm != 0 ? "gpm" : "nvml"; }
};
const std::vector<NvmlQuantity>& nvml_quantities();

// Indices in nvml_quantities().
constexpr std::size_t quantity_power_instant = 0, quantity_energy = 1, quantity_power_mean = 2,
                      quantity_power_average = 3, quantity_clock_sm = 4, quantity_clock_memory = 5,
                      quantity_clock_reasons = 6;

}  // namespace warpmeter
