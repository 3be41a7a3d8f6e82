// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "collectors/access.h"
#include "collectors/cupti_host.h"

namespace warpmeter {

// Calls `ask` in a forked child and returns what it returned. If it died, ended or did not answer
// in time, the result is empty and `why` says which ("ended by signal 11"). The child runs no exit
// handlers. Not in a process that has threads which hold locks that `ask` needs.
std::string ask_in_child(const std::function<std::string()>& ask, std::chrono::milliseconds limit,
                         std::string& why);

// Switches PM sampling of one metric on and off again for every device, in a child: what the driver
// refuses, or what crashes, does not touch this process. Only in processes of our own that have not
// called cuInit, because CUDA does not survive a fork.
std::vector<ProbeResult> probe_counters(
    std::chrono::milliseconds limit = std::chrono::milliseconds(20000));

// The way of the results through the pipe.
std::string to_text(const std::vector<ProbeResult>& results);
std::vector<ProbeResult> probe_results_of(const std::string& text);

// The metric of the probe, and the way to its configuration image for a chip.
constexpr const char* probe_metric = "gpu__time_duration.sum";
using PmConfigure = std::function<CounterConfig(const std::string& chip)>;

// The probe itself, of each device by its ordinal, after the driver gate.
std::vector<ProbeResult> probe_devices(const CuptiApi& cupti,
                                       const std::vector<TargetDevice>& devices,
                                       const PmConfigure& configure);

}  // namespace warpmeter
