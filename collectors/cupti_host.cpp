// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_host.h"

#include <cupti_version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "collectors/cupti_error.h"
#include "collectors/cupti_library.h"
#include "collectors/cupti_params.h"
#include "collectors/host_session.h"
#include "core/error.h"

namespace warpmeter {

struct CuptiHost::Functions : HostFunctions {
  decltype(cuptiGetVersion)* version = nullptr;
  decltype(cuptiProfilerHostGetSupportedChips)* chips = nullptr;
  decltype(cuptiProfilerHostGetBaseMetrics)* base_metrics = nullptr;
  decltype(cuptiProfilerHostGetMetricProperties)* properties = nullptr;
  decltype(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass)* max_per_pass = nullptr;

  // Null if all are there, else the first that is not.
  const char* bind(const SharedLibrary& library) {
    library.bind("cuptiGetVersion", version);
    library.bind("cuptiProfilerHostGetSupportedChips", chips);
    library.bind("cuptiProfilerHostInitialize", initialize);
    library.bind("cuptiProfilerHostDeinitialize", deinitialize);
    library.bind("cuptiProfilerHostGetBaseMetrics", base_metrics);
    library.bind("cuptiProfilerHostGetMetricProperties", properties);
    library.bind("cuptiProfilerHostConfigAddMetrics", add_metrics);
    library.bind("cuptiProfilerHostGetConfigImageSize", image_size);
    library.bind("cuptiProfilerHostGetConfigImage", image);
    library.bind("cuptiProfilerHostGetNumOfPasses", passes);
    library.bind("cuptiProfilerHostGetMaxNumHardwareMetricsPerPass", max_per_pass);
    return library.missing();
  }
};

struct ChipHost::Data {
  std::shared_ptr<const CuptiHost::Functions> functions;
  std::string chip;
  Profiler profiler = Profiler::range;
  int error = 0;
  std::size_t max_metrics_per_pass = 0;
  std::unordered_set<std::string> base_metrics;

  // Answers for single names: a plan asks for each of them several times.
  mutable std::mutex mutex;
  mutable std::unordered_map<std::string, CounterConfig> alone;
};

namespace {

void list_base_metrics(const CuptiHost::Functions& f, const HostSession& session,
                       std::unordered_set<std::string>& out) {
  for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; ++type) {
    auto p = sized<CUpti_Profiler_Host_GetBaseMetrics_Params>(
        CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);
    p.pHostObject = session.object();
    p.metricType = static_cast<CUpti_MetricType>(type);
    if (f.base_metrics(&p) != CUPTI_SUCCESS) continue;
    out.insert(p.ppMetricNames, p.ppMetricNames + p.numMetrics);
  }
}

std::string unit_of(const CuptiHost::Functions& f, const HostSession& session,
                    const std::string& name) {
  auto p = sized<CUpti_Profiler_Host_GetMetricProperties_Params>(
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  p.pHostObject = session.object();
  p.pMetricName = name.c_str();
  const bool known = f.properties(&p) == CUPTI_SUCCESS && p.pDimUnit != nullptr;
  return known ? p.pDimUnit : "";
}

std::size_t max_per_pass(const CuptiHost::Functions& f, const std::string& chip,
                         Profiler profiler) {
  auto p = sized<CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params>(
      CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params_STRUCT_SIZE);
  p.profilerType = cupti_type(profiler);
  p.pChipName = chip.c_str();
  return f.max_per_pass(&p) == CUPTI_SUCCESS ? p.maxMetricsPerPass : 0;
}

}  // namespace

const std::string& ChipHost::chip() const { return data_->chip; }
Profiler ChipHost::profiler() const { return data_->profiler; }
int ChipHost::error() const { return data_->error; }
std::size_t ChipHost::max_metrics_per_pass() const { return data_->max_metrics_per_pass; }

bool ChipHost::lists(std::string_view name) const {
  return data_->base_metrics.count(base_metric(name)) > 0;
}

std::string ChipHost::unit(const std::string& name) const {
  const HostSession session(*data_->functions, chip(), profiler());
  return session.error() == 0 ? unit_of(*data_->functions, session, name) : "";
}

CounterConfig ChipHost::configure(const std::vector<std::string>& names) const {
  const bool single = names.size() == 1;
  if (single) {
    const std::lock_guard lock(data_->mutex);
    const auto known = data_->alone.find(names.front());
    if (known != data_->alone.end()) return known->second;
  }
  const HostSession session(*data_->functions, chip(), profiler());
  CounterConfig out;
  if (session.error() == 0) {
    out = session.configure(names);
  } else {
    out.error = session.error();
    out.call = "Initialize";
  }
  const std::lock_guard lock(data_->mutex);
  if (single) data_->alone.emplace(names.front(), out);
  return out;
}

CuptiHost::CuptiHost() {
  const SharedLibrary library = open_cupti(path_);
  auto functions = std::make_shared<Functions>();
  if (const char* missing = functions->bind(library); missing != nullptr)
    throw InputError(
        fmt::format("{} has no {}: use the CUPTI of CUDA 13.0 or newer", path_, missing));
  functions_ = functions;
}

const CuptiHost& CuptiHost::open() {
  static const CuptiHost host;
  return host;
}

const std::string& CuptiHost::path() const { return path_; }

std::uint32_t CuptiHost::version() const {
  std::uint32_t version = 0;
  return functions_->version(&version) == CUPTI_SUCCESS ? version : 0;
}

std::vector<std::string> CuptiHost::chips() const {
  auto p = sized<CUpti_Profiler_Host_GetSupportedChips_Params>(
      CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  if (const int error = functions_->chips(&p); error != CUPTI_SUCCESS)
    throw InputError(fmt::format("{} lists no chips: {}", path_, describe_cupti_error(error)));
  return {p.ppChipNames, p.ppChipNames + p.numChips};
}

ChipHost CuptiHost::chip(const std::string& chip, Profiler profiler) const {
  const std::vector<std::string> known = chips();
  if (std::find(known.begin(), known.end(), chip) == known.end())
    throw InputError(fmt::format("unknown chip \"{}\"; this CUPTI ({}) knows {}", chip, version(),
                                 fmt::join(known, " ")));
  auto data = std::make_shared<ChipHost::Data>();
  data->functions = functions_;
  data->chip = chip;
  data->profiler = profiler;
  const HostSession session(*functions_, chip, profiler);
  data->error = session.error();
  if (data->error == 0) {
    list_base_metrics(*functions_, session, data->base_metrics);
    data->max_metrics_per_pass = max_per_pass(*functions_, chip, profiler);
  }
  ChipHost out;
  out.data_ = std::move(data);
  return out;
}

}  // namespace warpmeter
