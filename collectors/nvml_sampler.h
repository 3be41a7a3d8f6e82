// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectors/nvml_tables.h"

namespace warpmeter {

// A value of nvml_quantities()[quantity] at `start_ns`, or over the interval that ends there.
struct NvmlReading {
  std::uint64_t start_ns = 0;
  std::uint16_t device = 0, quantity = 0;
  bool known = false;
  double value = 0;
};

// A quantity, or with `gone` the whole device, that could not be read.
struct NvmlFailure {
  std::string what;    // the quantity's name, or "device"
  std::string reason;  // "NVML_ERROR_NOT_SUPPORTED (3)"
  std::uint64_t count = 0, from_ns = 0, to_ns = 0;
  bool final = false;  // it is not asked for again
};

// The sensors of one device. One thread at a time.
class NvmlSampler {
 public:
  // Throws InputError if NVML does not know the device ("GPU-..." or "MIG-...").
  NvmlSampler(const NvmlApi& nvml, const std::string& uuid, bool with_gpm);
  ~NvmlSampler();
  NvmlSampler(NvmlSampler&&) noexcept;

  // Reads all once and gives each value to `put`; counters have none the first time. A quantity
  // that is not there gives one unknown reading and a failure, and is not read again.
  void sample(std::uint64_t now_ns, std::uint16_t device,
              const std::function<void(const NvmlReading&)>& put);

  std::vector<NvmlFailure> take_failures();  // since the last call
  bool gone() const;                         // the device is lost
  bool on_mig_instance() const;              // sensors are those of the whole GPU
  const std::string& gpm_reason() const;     // empty: GPM works; else why not

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpmeter
