// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "profiler/overhead_keeper.h"

namespace warpmeter {

// What the launcher asks of the injected library, through one variable of the environment.
struct InjectOptions {
  static constexpr const char* variable = "WARPMETER_PROFILE";

  std::filesystem::path folder;      // of the shards; absolute
  std::vector<std::string> collect;  // of collector_names()
  std::string metrics = "diagnose";  // set of the catalogue, for counters
  std::string only;                  // processes whose command line contains this; empty: all
  bool armed = true;                 // collect from the start
  std::string wait_for_range;        // arm when an NVTX range of this name begins
  std::optional<double> duration_s;  // disarm so long after the first arming
  double overhead_budget = 0.03;     // 0: neither measured nor kept
  RoundPlan rounds;                  // that measure it
  std::size_t memory_bytes = std::size_t{256} << 20;  // of the timeline's buffers

  bool collects(std::string_view name) const;
};

// timeline, nvtx, pm, range, pc, nvml.
const std::vector<std::string>& collector_names();

Json to_json(const InjectOptions& options);

// Throws InputError: not JSON, an unknown key or collector, a value of the wrong type.
InjectOptions read_inject_options(std::string_view text);

}  // namespace warpmeter
