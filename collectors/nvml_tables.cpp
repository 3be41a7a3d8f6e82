// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_tables.h"

namespace warpmeter {
namespace {

constexpr double milli = 1e-3, mega = 1e6, percent = 0.01, kibi = 1024, mebi = 1048576;
constexpr double kelvin_of_celsius = 273.15;

// The functions that give one unsigned number.
template <auto Member>
int read_number(const NvmlApi& nvml, NvmlDevice device, double& value) {
  const auto function = nvml.*Member;
  if (function == nullptr) return nvml_function_not_found;
  unsigned int number = 0;
  const int status = function(device, &number);
  value = number;
  return status;
}

template <unsigned int Clock>
int read_clock(const NvmlApi& nvml, NvmlDevice device, double& value) {
  if (nvml.clock == nullptr) return nvml_function_not_found;
  unsigned int number = 0;
  const int status = nvml.clock(device, Clock, &number);
  value = number;
  return status;
}

int read_temperature(const NvmlApi& nvml, NvmlDevice device, double& value) {
  if (nvml.temperature == nullptr) return nvml_function_not_found;
  unsigned int number = 0;
  const int status = nvml.temperature(device, nvml_temperature_gpu, &number);
  value = number;
  return status;
}

int read_reasons(const NvmlApi& nvml, NvmlDevice device, double& value) {
  if (nvml.clock_reasons == nullptr) return nvml_function_not_found;
  unsigned long long bits = 0;
  const int status = nvml.clock_reasons(device, &bits);
  value = static_cast<double>(bits);
  return status;
}

template <unsigned int NvmlUtilization::*Member>
int read_utilization(const NvmlApi& nvml, NvmlDevice device, double& value) {
  if (nvml.utilization == nullptr) return nvml_function_not_found;
  NvmlUtilization utilization{};
  const int status = nvml.utilization(device, &utilization);
  value = utilization.*Member;
  return status;
}

// Links that the device does not have, and all of a device without NVLink, are errors of one link.
int read_links(const NvmlApi& nvml, NvmlDevice device, double& value) {
  if (nvml.link_state == nullptr) return nvml_function_not_found;
  int first_status = nvml_success, answered = 0;
  value = 0;
  for (unsigned int link = 0; link < nvml_max_nv_links; ++link) {
    int active = 0;
    const int status = nvml.link_state(device, link, &active);
    if (status == nvml_gpu_is_lost) return status;
    if (status == nvml_success) {
      ++answered;
      value += active != 0 ? 1 : 0;
    } else if (first_status == nvml_success) {
      first_status = status;
    }
  }
  return answered > 0 ? nvml_success : first_status;
}

}  // namespace

const std::vector<NvmlQuantity>& nvml_quantities() {
  using enum Unit;
  const auto call = [](const char* name, Unit unit, auto read, double scale = 1,
                       double offset = 0) {
    return NvmlQuantity{.name = name, .unit = unit, .scale = scale, .offset = offset, .read = read};
  };
  const auto field = [](const char* name, Unit unit, unsigned int id, double scale = 1,
                        double offset = 0) {
    return NvmlQuantity{.name = name, .unit = unit, .scale = scale, .offset = offset, .field = id};
  };
  const auto counter = [](const char* name, Unit unit, unsigned int id, double scale = 1,
                          unsigned int scope = 0) {
    return NvmlQuantity{
        .name = name, .unit = unit, .scale = scale, .field = id, .scope = scope, .counter = true};
  };
  const auto gpm = [](const char* name, unsigned int id, Unit unit = one, double scale = percent) {
    return NvmlQuantity{.name = name, .unit = unit, .scale = scale, .gpm = id};
  };
  static const std::vector<NvmlQuantity> all = {
      field("power.instant", watt, 186, milli),
      counter("energy", joule, 83, milli),
      {.name = "power.mean", .unit = watt},  // from energy
      call("power.average", watt, read_number<&NvmlApi::power>, milli),
      call("clock.sm.instant", hertz, read_clock<nvml_clock_sm>, mega),
      call("clock.memory.instant", hertz, read_clock<nvml_clock_memory>, mega),
      call("clock.reasons", one, read_reasons),
      call("temperature.gpu", kelvin, read_temperature, 1, kelvin_of_celsius),
      field("temperature.memory", kelvin, 82, 1, kelvin_of_celsius),
      call("utilization.gpu", one, read_utilization<&NvmlUtilization::gpu>, percent),
      call("utilization.memory", one, read_utilization<&NvmlUtilization::memory>, percent),
      call("pcie.generation", one, read_number<&NvmlApi::pcie_generation>),
      call("pcie.width", one, read_number<&NvmlApi::pcie_width>),
      counter("pcie.bytes_write", byte, 197),
      counter("pcie.bytes_read", byte, 198),
      call("nvlink.links", one, read_links),
      counter("nvlink.payload_out", byte, 138, kibi, nvml_all_links),
      counter("nvlink.payload_in", byte, 139, kibi, nvml_all_links),
      counter("nvlink.bytes_out", byte, 140, kibi, nvml_all_links),
      counter("nvlink.bytes_in", byte, 141, kibi, nvml_all_links),
      counter("nvlink.errors.crc_flit", one, 38),
      counter("nvlink.errors.crc_data", one, 45),
      counter("nvlink.errors.replay", one, 52),
      counter("nvlink.errors.recovery", one, 59),
      counter("nvlink.errors.ecc_data", one, 160),
      gpm("sm.active", 2),
      gpm("gpm.graphics_active", 1),
      gpm("gpm.occupancy", 3),
      gpm("gpm.tensor_active", 5),
      gpm("gpm.tensor_hmma_active", 7),
      gpm("gpm.tensor_imma_active", 9),
      gpm("gpm.tensor_dmma_active", 8),
      gpm("gpm.tensor_dfma_active", 6),
      gpm("gpm.fp32_active", 12),
      gpm("gpm.fp16_active", 13),
      gpm("gpm.fp64_active", 11),
      gpm("gpm.integer_active", 4),
      gpm("gpm.dram_bandwidth", 10),
      gpm("gpm.pcie_out", 20, byte_per_second, mebi),
      gpm("gpm.pcie_in", 21, byte_per_second, mebi),
      gpm("gpm.nvlink_in", 60, byte_per_second, mebi),
      gpm("gpm.nvlink_out", 61, byte_per_second, mebi),
  };
  return all;
}

}  // namespace warpmeter
