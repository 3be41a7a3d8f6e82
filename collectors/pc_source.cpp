// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pc_source.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace warpmeter {
namespace {

// CUDA 12.4 made CUpti_PCSamplingPCData longer, which its `size` does not cover: buffers are
// arrays.
constexpr std::uint32_t first_version = 22;
static_assert(CUPTI_API_VERSION >= first_version);
static_assert(sizeof(CUpti_PCSamplingPCData::correlationId) == sizeof(std::uint32_t));

void check(CUptiResult result, const char* call) { check_cupti(result, "pc", call); }

template <typename Params>
Params of_context(std::size_t size, CUcontext context) {
  Params params{};
  params.size = size;
  params.ctx = context;
  return params;
}

CUpti_PCSamplingConfigurationInfo attribute(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo info{};
  info.attributeType = type;
  return info;
}

}  // namespace

std::string_view stall_reason(std::string_view name) {
  constexpr std::string_view common = "smsp__pcsamp_warps_issue_stalled_";
  return name.starts_with(common) ? name.substr(common.size()) : name;
}

PcSource::Buffer::Buffer(std::size_t pc_count, std::size_t reason_count)
    : reasons(pc_count * reason_count), pcs(pc_count) {
  for (std::size_t i = 0; i < pc_count; ++i) {
    pcs[i].size = sizeof(CUpti_PCSamplingPCData);
    pcs[i].stallReason = reasons.data() + i * reason_count;
  }
  data.size = sizeof(CUpti_PCSamplingData);
  data.collectNumPcs = pc_count;
  data.pPcData = pcs.data();
}

PcSource::PcSource(const CuptiApi& api, CUcontext context, int major,
                   const PcSourceOptions& options)
    : api_(api), context_(context) {
  std::uint32_t version = 0;
  check(api_.cuptiGetVersion(&version), "cuptiGetVersion");
  if (version < first_version)
    throw InputError("pc: this CUPTI is older than CUDA 12.4; use that of CUDA 13.0");
  auto p = of_context<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize, context_);
  check(api_.cuptiPCSamplingEnable(&p), "cuptiPCSamplingEnable");
  enabled_ = true;
  try {
    read_reasons();
    last_ = std::make_unique<Buffer>(options.pcs, indexes_.size());
    current_ = std::make_unique<Buffer>(options.pcs, indexes_.size());
    configure(major, options);
  } catch (...) {
    disable();
    throw;
  }
}

PcSource::~PcSource() {
  if (enabled_) (void)disable();
}

CUptiResult PcSource::disable() {
  enabled_ = false;
  auto p = of_context<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize, context_);
  return api_.cuptiPCSamplingDisable(&p);
}

void PcSource::read_reasons() {
  std::size_t count = 0;
  auto number = of_context<CUpti_PCSamplingGetNumStallReasonsParams>(
      CUpti_PCSamplingGetNumStallReasonsParamsSize, context_);
  number.numStallReasons = &count;
  check(api_.cuptiPCSamplingGetNumStallReasons(&number), "cuptiPCSamplingGetNumStallReasons");
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  indexes_.resize(count);
  auto p = of_context<CUpti_PCSamplingGetStallReasonsParams>(
      CUpti_PCSamplingGetStallReasonsParamsSize, context_);
  p.numStallReasons = count;
  p.stallReasonIndex = indexes_.data();
  p.stallReasons = pointers.data();
  check(api_.cuptiPCSamplingGetStallReasons(&p), "cuptiPCSamplingGetStallReasons");
  for (std::size_t i = 0; i < count; ++i) {
    texts[i].back() = '\0';
    if (names_.size() <= indexes_[i]) names_.resize(indexes_[i] + 1, "unknown");
    names_[indexes_[i]] = stall_reason(texts[i].data());
  }
}

void PcSource::configure(int major, const PcSourceOptions& options) {
  std::vector<CUpti_PCSamplingConfigurationInfo> all;
  all.push_back(attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON));
  all.back().attributeData.stallReasonData.stallReasonCount = indexes_.size();
  all.back().attributeData.stallReasonData.pStallReasonIndex = indexes_.data();
  all.push_back(attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER));
  all.back().attributeData.samplingDataBufferData.samplingDataBuffer = &last_->data;
  all.push_back(attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE));
  all.back().attributeData.collectionModeData.collectionMode =
      CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  if (options.windows) {
    all.push_back(attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL));
    all.back().attributeData.enableStartStopControlData.enableStartStopControl = 1;
  }
  if (options.period && major < 10) {
    all.push_back(attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD));
    all.back().attributeData.samplingPeriodData.samplingPeriod = *options.period;
  }
  auto p = of_context<CUpti_PCSamplingConfigurationInfoParams>(
      CUpti_PCSamplingConfigurationInfoParamsSize, context_);
  p.numAttributes = all.size();
  p.pPCSamplingConfigurationInfo = all.data();
  check(api_.cuptiPCSamplingSetConfigurationAttribute(&p),
        "cuptiPCSamplingSetConfigurationAttribute");
}

void PcSource::start() {
  auto p = of_context<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize, context_);
  check(api_.cuptiPCSamplingStart(&p), "cuptiPCSamplingStart");
}

void PcSource::stop() {
  auto p = of_context<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize, context_);
  check(api_.cuptiPCSamplingStop(&p), "cuptiPCSamplingStop");
}

// Names of functions are CUPTI's own memory, which other records may share: they are not freed.
void PcSource::take_buffer(const CUpti_PCSamplingData& data,
                           const std::function<void(const PcCount&)>& take,
                           PcLosses& losses) const {
  for (std::size_t i = 0; i < std::min(data.totalNumPcs, data.collectNumPcs); ++i) {
    const CUpti_PCSamplingPCData& pc = data.pPcData[i];
    for (std::size_t r = 0; r < std::min(pc.stallReasonCount, indexes_.size()); ++r) {
      const CUpti_PCSamplingStallReason& reason = pc.stallReason[r];
      if (reason.samples == 0) continue;
      const bool named = reason.pcSamplingStallReasonIndex < names_.size();
      take({pc.cubinCrc, pc.pcOffset, pc.functionName == nullptr ? "" : pc.functionName,
            named ? names_[reason.pcSamplingStallReasonIndex] : "unknown", reason.samples});
    }
  }
  losses.dropped += data.droppedSamples;
  losses.not_user += data.nonUsrKernelsTotalSamples;
  losses.full += data.hardwareBufferFull != 0;
}

PcLosses PcSource::fetch(const std::function<void(const PcCount&)>& take, int rounds) {
  PcLosses losses;
  for (int round = 0; round < rounds; ++round) {
    CUpti_PCSamplingData& data = current_->data;
    data.totalNumPcs = data.remainingNumPcs = 0;
    data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
    data.hardwareBufferFull = 0;
    auto p = of_context<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize, context_);
    p.pcSamplingData = &data;
    const CUptiResult result = api_.cuptiPCSamplingGetData(&p);
    if (result == CUPTI_ERROR_OUT_OF_MEMORY)
      data.hardwareBufferFull = 1;
    else
      check(result, "cuptiPCSamplingGetData");
    take_buffer(data, take, losses);
    losses.unread = data.remainingNumPcs;
    if (data.remainingNumPcs == 0 || data.totalNumPcs == 0) break;
  }
  return losses;
}

PcLosses PcSource::close(const std::function<void(const PcCount&)>& take) {
  PcLosses losses = fetch(take, 1 << 14);
  check(disable(), "cuptiPCSamplingDisable");
  take_buffer(last_->data, take, losses);
  losses.unread -= std::min<std::uint64_t>(losses.unread, last_->data.totalNumPcs);
  return losses;
}

}  // namespace warpmeter
