// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "collectors/nvml_tables.h"

namespace warpmeter {

// Counters that NVML samples itself (GPM, Hopper and newer): means between two samples, which must
// lie more than 100 ms apart (NVML API Reference Guide, nvmlGpmMetricsGet).
class NvmlGpm {
 public:
  static constexpr std::uint64_t interval_ns = 200'000'000;

  // Null, with `why`, if the device or the driver has none.
  static std::unique_ptr<NvmlGpm> open(const NvmlApi& nvml, NvmlDevice device, std::string& why);
  ~NvmlGpm();
  NvmlGpm(const NvmlGpm&) = delete;
  NvmlGpm& operator=(const NvmlGpm&) = delete;

  // Does nothing before interval_ns have passed; the first time there is nothing to give.
  // `give` takes a quantity (nvml_quantities), its nvmlReturn_t and its number, not scaled.
  void sample(std::uint64_t now_ns, const std::function<void(std::size_t, int, double)>& give);

 private:
  NvmlGpm(const NvmlApi& nvml, NvmlDevice device);

  const NvmlApi& nvml_;
  NvmlDevice device_;
  NvmlGpmSample before_ = nullptr, now_ = nullptr;
  bool has_before_ = false;
  std::uint64_t next_ns_ = 0;
  std::vector<std::size_t> quantities_;  // those of GPM
  std::unique_ptr<NvmlGpmRequest> request_ = std::make_unique<NvmlGpmRequest>();
};

}  // namespace warpmeter
