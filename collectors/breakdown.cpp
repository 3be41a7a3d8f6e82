// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/breakdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>

#include <algorithm>

#include "collectors/cupti_params.h"
#include "core/error.h"
#include "core/shared_library.h"

namespace warpmeter {
namespace {

struct Functions {
  decltype(NVPW_InitializeHost)* initialize_host = nullptr;
  decltype(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize)* scratch_size = nullptr;
  decltype(NVPW_CUDA_MetricsEvaluator_Initialize)* initialize = nullptr;
  decltype(NVPW_MetricsEvaluator_Destroy)* destroy = nullptr;
  decltype(NVPW_MetricsEvaluator_GetMetricNames)* names = nullptr;
  decltype(NVPW_MetricsEvaluator_GetThroughputMetricProperties)* properties = nullptr;

  explicit Functions(const SharedLibrary& library) {
    library.bind("NVPW_InitializeHost", initialize_host);
    library.bind("NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize", scratch_size);
    library.bind("NVPW_CUDA_MetricsEvaluator_Initialize", initialize);
    library.bind("NVPW_MetricsEvaluator_Destroy", destroy);
    library.bind("NVPW_MetricsEvaluator_GetMetricNames", names);
    library.bind("NVPW_MetricsEvaluator_GetThroughputMetricProperties", properties);
  }
};

void check(NVPA_Status status, const char* call) {
  if (status != NVPA_STATUS_SUCCESS)
    throw InputError(fmt::format("no breakdown: {} of libnvperf_host returns {}", call,
                                 static_cast<int>(status)));
}

// The metrics of one chip as libnvperf_host numbers them.
class Evaluator {
 public:
  Evaluator(const Functions& f, const std::string& chip) : f_(f) {
    NVPW_InitializeHost_Params host{NVPW_InitializeHost_Params_STRUCT_SIZE, nullptr};
    check(f_.initialize_host(&host), "InitializeHost");
    auto size = sized<NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params>(
        NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params_STRUCT_SIZE);
    size.pChipName = chip.c_str();
    check(f_.scratch_size(&size), "CalculateScratchBufferSize");
    scratch_.resize(size.scratchBufferSize);
    auto p = sized<NVPW_CUDA_MetricsEvaluator_Initialize_Params>(
        NVPW_CUDA_MetricsEvaluator_Initialize_Params_STRUCT_SIZE);
    p.pScratchBuffer = scratch_.data();
    p.scratchBufferSize = scratch_.size();
    p.pChipName = chip.c_str();
    check(f_.initialize(&p), "MetricsEvaluator_Initialize");
    evaluator_ = p.pMetricsEvaluator;
  }
  ~Evaluator() {
    NVPW_MetricsEvaluator_Destroy_Params p{NVPW_MetricsEvaluator_Destroy_Params_STRUCT_SIZE,
                                           nullptr, evaluator_};
    (void)f_.destroy(&p);
  }
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  std::vector<std::string> names(NVPW_MetricType type) const {
    auto p = sized<NVPW_MetricsEvaluator_GetMetricNames_Params>(
        NVPW_MetricsEvaluator_GetMetricNames_Params_STRUCT_SIZE);
    p.pMetricsEvaluator = evaluator_;
    p.metricType = static_cast<std::uint8_t>(type);
    check(f_.names(&p), "GetMetricNames");
    std::vector<std::string> out;
    for (std::size_t i = 0; i < p.numMetrics; ++i)
      out.emplace_back(p.pMetricNames + p.pMetricNameBeginIndices[i]);
    return out;
  }

  Breakdown read(std::size_t throughput, const std::vector<std::string>& throughputs,
                 const std::vector<std::string>& counters) const {
    auto p = sized<NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params>(
        NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params_STRUCT_SIZE);
    p.pMetricsEvaluator = evaluator_;
    p.throughputMetricIndex = throughput;
    check(f_.properties(&p), "GetThroughputMetricProperties");
    Breakdown out{throughputs.at(throughput), {}, {}};
    for (std::size_t i = 0; i < p.numCounters; ++i)
      out.counters.push_back(counters.at(p.pCounterIndices[i]));
    for (std::size_t i = 0; i < p.numSubThroughputs; ++i)
      out.parts.push_back(read(p.pSubThroughputIndices[i], throughputs, counters));
    return out;
  }

 private:
  const Functions& f_;
  std::vector<std::uint8_t> scratch_;
  NVPW_MetricsEvaluator* evaluator_ = nullptr;
};

}  // namespace

Breakdown read_breakdown(const CuptiHost& cupti, const std::string& chip,
                         const std::string& metric) {
  (void)cupti.chip(chip, Profiler::range);  // refuses an unknown chip, and loads libnvperf_host
  std::string why;
  const SharedLibrary library = SharedLibrary::open("libnvperf_host.so", why);
  if (!library) throw InputError("no breakdown: " + why + ", which comes with CUPTI");
  const Functions functions(library);
  if (library.missing() != nullptr)
    throw InputError("no breakdown: this libnvperf_host does not tell any more; use CUDA 13.0's");
  const Evaluator evaluator(functions, chip);
  const auto throughputs = evaluator.names(NVPW_METRIC_TYPE_THROUGHPUT);
  const std::string base = base_metric(metric);
  const auto found = std::find(throughputs.begin(), throughputs.end(), base);
  if (found == throughputs.end()) {
    std::vector<std::string> own;  // groups of PM sampling have dots
    for (const std::string& name : throughputs)
      if (name.find('.') == std::string::npos && name.find("_internal") == std::string::npos)
        own.push_back(name);
    throw InputError(
        fmt::format("{} has no throughput \"{}\"; it has {}", chip, base, fmt::join(own, " ")));
  }
  return evaluator.read(static_cast<std::size_t>(found - throughputs.begin()), throughputs,
                        evaluator.names(NVPW_METRIC_TYPE_COUNTER));
}

}  // namespace warpmeter
