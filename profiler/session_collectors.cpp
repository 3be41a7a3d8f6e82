// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of Session that makes the collectors beside the timeline.
#include <cstdlib>

#include "collectors/access.h"
#include "collectors/cupti_api.h"
#include "collectors/ladder.h"
#include "collectors/nvml_collector.h"
#include "collectors/nvtx_collector.h"
#include "collectors/pm_sampling.h"
#include "core/error.h"
#include "profiler/process_facts.h"
#include "profiler/session.h"

namespace warpmeter {

void Session::add(const std::string& name,
                  const std::function<std::unique_ptr<Collector>()>& make) {
  if (!options_.collects(name)) return;
  try {
    collectors_.push_back(make());
    if (armed_) collectors_.back()->arm();
  } catch (const InputError& error) {
    refuse(name, error.what());
  }
}

void Session::add_nvtx() {
  nvtx_known_ = true;
  add("nvtx", [this] { return std::make_unique<NvtxCollector>(target_, nvtx_bytes); });
}

// Once the devices are known. How far up the counters can be reached is judged before anything is
// asked of the hardware: what is not granted is not tried, and GPM stands in where the GPU has it.
void Session::add_device_collectors(const DriverGate& driver) {
  unsigned wanted = access_timeline;
  if (options_.collects("pm")) wanted |= access_pm;
  if (options_.collects("range")) wanted |= access_range;
  if (options_.collects("pc")) wanted |= access_pc;
  const char* own_library = std::getenv("CUDA_INJECTION64_PATH");
  const Ladder ladder =
      choose_ladder(judge_access(read_access(driver, own_library ? own_library : "")), wanted);
  ladder_ = to_json(ladder);
  for (const LadderStep& step : ladder.steps) {
    std::string why;
    for (const std::string& reason : step.reasons) why += (why.empty() ? "" : "; ") + reason;
    refuse(std::string(to_string(step.collector)), why);
  }
  if (ladder.grants(access_pm)) {
    add("pm", [this] {
      PmOptions options;
      options.set = options_.metrics;
      options.virtual_time = on_emulated_gpu();
      return std::make_unique<PmCollector>(target_, options);
    });
  }
  add_watched_collectors(ladder);
  add("nvml", [&] {
    NvmlOptions options;
    options.gpm = ladder.grants(access_gpm) || wanted == access_timeline;
    return std::make_unique<NvmlCollector>(target_, options);
  });
}

}  // namespace warpmeter
