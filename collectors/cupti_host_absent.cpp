// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// In place of cupti_host.cpp and breakdown.cpp where the toolkit has no CUPTI headers.
#include "collectors/breakdown.h"
#include "collectors/cupti_host.h"
#include "collectors/probe.h"
#include "core/error.h"

namespace warpmeter {

struct CuptiHost::Functions {};

struct ChipHost::Data {
  std::string chip;
};

CuptiHost::CuptiHost() {
  throw InputError(
      "warpmeter was built without CUPTI's headers: install the toolkit's CUPTI or the PyPI "
      "package "
      "nvidia-cuda-cupti==13.0.*, and configure and build again");
}

const CuptiHost& CuptiHost::open() {
  static const CuptiHost host;
  return host;
}

const std::string& CuptiHost::path() const { return path_; }
std::uint32_t CuptiHost::version() const { return 0; }
std::vector<std::string> CuptiHost::chips() const { return {}; }
ChipHost CuptiHost::chip(const std::string&, Profiler) const { return {}; }

// Never reached: there is no host to make one.
Breakdown read_breakdown(const CuptiHost&, const std::string&, const std::string&) { return {}; }
const std::string& ChipHost::chip() const { return data_->chip; }
Profiler ChipHost::profiler() const { return Profiler::range; }
int ChipHost::error() const { return 0; }
std::size_t ChipHost::max_metrics_per_pass() const { return 0; }
bool ChipHost::lists(std::string_view) const { return false; }
std::string ChipHost::unit(const std::string&) const { return ""; }
CounterConfig ChipHost::configure(const std::vector<std::string>&) const { return {}; }

std::vector<ProbeResult> probe_counters(std::chrono::milliseconds) {
  return {{"", 0, "warpmeter was built without CUPTI's headers"}};
}

}  // namespace warpmeter
