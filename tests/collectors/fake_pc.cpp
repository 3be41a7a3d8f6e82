// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "fake_pc.h"

#include <cstring>

namespace warpmeter {
namespace {

FakePc* fake = nullptr;

CUptiResult call(const char* name) {
  fake->calls.insert(name);
  const auto found = fake->errors.find(name);
  return found == fake->errors.end() ? CUPTI_SUCCESS : found->second;
}

void put(CUpti_PCSamplingData& data, const PcRecord& record) {
  CUpti_PCSamplingPCData& pc = data.pPcData[data.totalNumPcs++];
  pc.cubinCrc = record.crc;
  pc.pcOffset = record.offset;
  pc.functionName = const_cast<char*>(record.function.c_str());
  pc.stallReasonCount = record.reasons.size();
  for (std::size_t i = 0; i < record.reasons.size(); ++i)
    pc.stallReason[i] = {record.reasons[i].first, record.reasons[i].second};
}

std::vector<PcRecord> given;  // keeps names that were handed over

const std::map<std::uint32_t, const char*> reasons = {
    {3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard"},
    {1, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"},
    {5, "smsp__pcsamp_warps_issue_stalled_barrier"}};

}  // namespace

CuptiApi api_of(FakePc& device) {
  fake = &device;
  given.clear();
  given.reserve(1000);
  CuptiApi api;
  api.cuptiGetVersion = [](std::uint32_t* version) {
    *version = fake->errors.count("old") ? 21 : 130001;
    return CUPTI_SUCCESS;
  };
  api.cuptiPCSamplingEnable = [](CUpti_PCSamplingEnableParams*) { return call("Enable"); };
  api.cuptiPCSamplingDisable = [](CUpti_PCSamplingDisableParams*) {
    for (const PcRecord& record : fake->at_end) put(*fake->last, record);
    return call("Disable");
  };
  api.cuptiPCSamplingStart = [](CUpti_PCSamplingStartParams*) { return call("Start"); };
  api.cuptiPCSamplingStop = [](CUpti_PCSamplingStopParams*) { return call("Stop"); };
  api.cuptiPCSamplingGetNumStallReasons = [](CUpti_PCSamplingGetNumStallReasonsParams* p) {
    *p->numStallReasons = reasons.size();
    return call("NumReasons");
  };
  api.cuptiPCSamplingGetStallReasons = [](CUpti_PCSamplingGetStallReasonsParams* p) {
    std::size_t i = 0;
    for (const auto& [index, name] : reasons) {
      p->stallReasonIndex[i] = index;
      std::strcpy(p->stallReasons[i++], name);
    }
    return call("Reasons");
  };
  api.cuptiPCSamplingSetConfigurationAttribute = [](CUpti_PCSamplingConfigurationInfoParams* p) {
    for (std::size_t i = 0; i < p->numAttributes; ++i) {
      const CUpti_PCSamplingConfigurationInfo& info = p->pPCSamplingConfigurationInfo[i];
      fake->attributes.insert(info.attributeType);
      if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
        fake->last = static_cast<CUpti_PCSamplingData*>(
            info.attributeData.samplingDataBufferData.samplingDataBuffer);
      if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE &&
          info.attributeData.collectionModeData.collectionMode !=
              CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS)
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return call("Configure");
  };
  // Two records at a time.
  api.cuptiPCSamplingGetData = [](CUpti_PCSamplingGetDataParams* p) {
    auto& data = *static_cast<CUpti_PCSamplingData*>(p->pcSamplingData);
    const std::lock_guard lock(fake->mutex);
    for (int i = 0; i < 2 && !fake->records.empty(); ++i) {
      given.push_back(fake->records.front());
      put(data, given.back());
      fake->records.pop_front();
    }
    data.remainingNumPcs = fake->records.size() + fake->withheld;
    data.droppedSamples = std::exchange(fake->dropped, 0);
    data.nonUsrKernelsTotalSamples = std::exchange(fake->not_user, 0);
    if (std::exchange(fake->full, false)) return CUPTI_ERROR_OUT_OF_MEMORY;
    return call("GetData");
  };
  return api;
}

}  // namespace warpmeter
