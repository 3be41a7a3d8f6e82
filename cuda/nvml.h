// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace warpmeter {

struct NvmlApi;

// "0000:07:00.0": four-digit domain, lower case, from any of the spellings in use (the runtime's,
// NVML's eight-digit domain). Throws InputError on anything else.
std::string normal_pci_id(std::string_view text);

// Facts and states of devices by NVML (nvml_api.h). Devices are named by normal PCI id, because
// NVML's numbering is not CUDA's.
class Nvml {
 public:
  // Null if the library is missing or does not start; `why` then says so. Opened once per process.
  static const Nvml* open(std::string& why);

  // How the two GPUs are joined, as nvidia-smi names it: "NV#" (# active links), "PIX", "PXB",
  // "PHB", "NODE", "SYS"; null if NVML cannot tell.
  std::optional<std::string> link(const std::string& from, const std::string& to) const;

  // {temperature (K), power (W), clock_sm (Hz), clock_memory (Hz), clock_reasons: why the clock is
  // not higher}. What cannot be read is left out.
  Json state(const std::string& device) const;

  std::optional<bool> mig(const std::string& device) const;
  std::optional<std::string> virtualization(const std::string& device) const;
  std::optional<bool> persistence(const std::string& device) const;

 private:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  void* handle(const std::string& device) const;

  const NvmlApi& api_;
};

}  // namespace warpmeter
