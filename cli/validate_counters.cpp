// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/validate_counters.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/devices.h"
#include "cli/emulate.h"
#include "collectors/counter_validation.h"
#include "collectors/cupti_library.h"
#include "collectors/driver.h"
#include "collectors/range_counters.h"
#include "core/error.h"
#include "core/provenance.h"
#include "core/table.h"
#include "cuda/check.h"
#include "cuda/handles.h"
#include "microbench/cuda/known_work.h"

namespace warpmeter {
namespace {

constexpr int repeats = 3;  // of each launch

// What one metric made of all launches that do its work.
struct Validated {
  std::string kernel, metric, counter;
  std::string why;  // not measured; else empty
  std::vector<KnownWork> runs;
  CounterCheck check;
};

// The current device's.
CUcontext primary_context() {
  GPU_CHECK(cudaFree(nullptr));  // makes it
  std::string why;
  const SharedLibrary library = SharedLibrary::open("libcuda.so.1", why);
  int (*get)(CUcontext*) = nullptr;
  CUcontext context = nullptr;
  if (library) library.bind("cuCtxGetCurrent", get);
  if (get == nullptr || get(&context) != 0 || context == nullptr)
    throw InputError("the driver gives no context; compare with nvidia-smi");
  return context;
}

CounterPlan plan_for(const std::string& chip, const KnownLaunch& launch) {
  const Catalogue& catalogue = Catalogue::built_in();
  std::vector<const LogicalMetric*> metrics;
  for (const auto& [id, amount] : launch.work) metrics.push_back(catalogue.find(id));
  const CuptiHost& host = CuptiHost::open();
  return counter_plan(make_plan(host, host.chip(chip, Profiler::range), catalogue, metrics));
}

class Validation {
 public:
  Validation(const CuptiApi& api, const Device& device)
      : kernels_(device),
        chip_(chip_name(api, static_cast<std::size_t>(device.ordinal))),
        profiler_(api, primary_context(), chip_) {}

  const std::string& chip() const { return chip_; }

  std::vector<Validated> run() {
    for (const KnownLaunch& launch : kernels_.launches()) count(launch);
    for (Validated& one : found_) {
      one.check = check_counter(one.runs);
      if (!one.why.empty()) one.check.reason = one.why;
    }
    return std::move(found_);
  }

 private:
  void count(const KnownLaunch& launch) {
    try {
      const CounterPlan plan = plan_for(chip_, launch);
      for (const WantedMetric& wanted : plan.metrics) {
        Validated& one = of(launch, wanted.metric->id);
        one.counter = wanted.counter;
        one.why = wanted.why;
      }
      const ReplayWork work{launch.prepare, [] {}, launch.launch,
                            [this] { kernels_.synchronize(); }};
      for (int repeat = 0; repeat < repeats; ++repeat) {
        // The work is the same in every pass, whatever its cycles: no verdict of theirs is asked.
        for (const MetricValue& value : profiler_.replay(plan, work))
          of(launch, value.metric->id)
              .runs.push_back({launch.work.at(value.metric->id), value.value});
      }
    } catch (const InputError& error) {
      for (const auto& [id, amount] : launch.work) of(launch, id).why = error.what();
    }
  }

  Validated& of(const KnownLaunch& launch, const std::string& metric) {
    const auto found = std::find_if(found_.begin(), found_.end(), [&](const Validated& one) {
      return one.kernel == launch.kernel && one.metric == metric;
    });
    if (found != found_.end()) return *found;
    found_.push_back({launch.kernel, metric, "", "", {}, {}});
    return found_.back();
  }

  KnownWorkKernels kernels_;
  std::string chip_;
  RangeProfiler profiler_;
  std::vector<Validated> found_;
};

Json to_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->lo, interval->hi} : Json();
}

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json to_json(const Validated& one) {
  Json runs = Json::array();
  for (const KnownWork& run : one.runs)
    runs.push_back({{"expected", run.expected}, {"counted", optional(run.counted)}});
  const CounterCheck& check = one.check;
  return {{"metric", one.metric},
          {"unit", to_string(Catalogue::built_in().find(one.metric)->unit)},
          {"counter", one.counter.empty() ? Json() : Json(one.counter)},
          {"kernel", one.kernel},
          {"runs", runs},
          {"gain", optional(check.gain)},
          {"gain_interval", to_json(check.gain_interval)},
          {"offset", optional(check.offset)},
          {"offset_interval", to_json(check.offset_interval)},
          {"verdict", to_string(check.verdict)},
          {"reason", check.reason}};
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

void print(const std::vector<Validated>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const Validated& one : all) {
    const KnownWork last = one.runs.empty() ? KnownWork{} : one.runs.back();
    const auto expected = one.runs.empty() ? std::nullopt : std::optional(last.expected);
    rows.push_back({one.metric, one.kernel, number(expected), number(last.counted),
                    number(one.check.gain), number(one.check.offset),
                    std::string(to_string(one.check.verdict)), one.check.reason});
  }
  fmt::print("{}", format_table({"metric", "kernel", "expected", "measured", "gain", "offset",
                                 "verdict", ""},
                                rows));
}

Device choose_gpu(const std::string& text) {
  const Choice choice = choose_device(text);
  if (choice.device.kind != DeviceKind::cuda)
    throw InputError(
        fmt::format("--validate-counters needs a GPU: {}; for a trial: warpmeter "
                    "--emulate tiny doctor --validate-counters",
                    choice.reason));
  return choice.device;
}

}  // namespace

void validate_counters(const std::string& text, bool json, Context& context) {
  const Device device = choose_gpu(text);
  if (is_emulated(device)) load_emulated_driver();
  if (const DriverGate gate = pass_driver_gate(); !gate.passed()) throw InputError(gate.why);
  std::string path;
  const CuptiApi api = bind_cupti(open_cupti(path), path);
  const DeviceGuard guard(device.ordinal);
  Validation validation(api, device);
  const std::vector<Validated> all = validation.run();
  if (json) {
    Json counters = Json::array();
    for (const Validated& one : all) counters.push_back(to_json(one));
    fmt::print("{}\n", Json{{"schema", "warpmeter.counter_validation/1"},
                            {"tool", tool_provenance(context.argv)},
                            {"source", is_emulated(device) ? "emulated" : "measured"},
                            {"device", to_string(device)},
                            {"chip", validation.chip()},
                            {"cupti", path},
                            {"counters", counters}}
                           .dump(1));
  } else {
    fmt::print("{} ({}), counted by {}\n", to_string(device), validation.chip(), path);
    print(all);
  }
  const bool ok = std::all_of(all.begin(), all.end(), [](const Validated& one) {
    return one.check.verdict == CounterVerdict::ok;
  });
  if (!ok) context.exit_status = exit_not_as_asked;
}

}  // namespace warpmeter
