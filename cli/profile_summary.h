// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "profiler/profile_reader.h"

namespace warpmeter {

// What is in a profile, for the end of `profile` and `merge`.
struct ProfileSummary {
  struct Kernel {
    std::string name;  // as the program's text has it, demangled
    std::int64_t count = 0, without_time = 0;
    double seconds = 0;
  };
  std::string source;
  std::int64_t processes = 0, launches = 0, kernels = 0, graph_kernels = 0, copies = 0, sets = 0,
               ranges = 0, samples = 0, counters = 0;
  std::vector<Kernel> by_time;       // longest together first
  std::vector<std::string> refused;  // collectors that did not work, each once, and why
  std::vector<std::string> losses;
  Json overhead = Json::array();  // of each process that measured it
};

ProfileSummary summarize(const ProfileReader& profile);
Json to_json(const ProfileSummary& summary);
std::string format_summary(const ProfileSummary& summary);

}  // namespace warpmeter
