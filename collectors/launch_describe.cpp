// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What LaunchWatch says of a launch.
#include "collectors/launch_watch.h"

namespace warpmeter {
namespace {

bool of_per_thread_stream(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

// cuLaunchKernel and cuLaunchCooperativeKernel begin with the same parameters.
CUfunction read_plain(LaunchInfo& info, const cuLaunchKernel_params& p) {
  info.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  info.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  info.shared_dynamic = p.sharedMemBytes;
  info.stream = p.hStream;
  return p.f;
}

CUfunction read_extended(LaunchInfo& info, const cuLaunchKernelEx_params& p) {
  const CUlaunchConfig& c = *p.config;
  info.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
  info.block = {c.blockDimX, c.blockDimY, c.blockDimZ};
  info.shared_dynamic = c.sharedMemBytes;
  info.stream = c.hStream;
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = c.attrs[i];
    const auto& cluster = attribute.value.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && cluster.x > 0)
      info.cluster = {cluster.x, cluster.y, cluster.z};
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      info.cooperative = attribute.value.cooperative != 0;
  }
  return p.f;
}

}  // namespace

// The context is null if it is not known.
LaunchInfo LaunchWatch::describe(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  LaunchInfo info;
  {
    const Lock lock(mutex_);
    const auto found = contexts_.find(data.context);
    if (found == contexts_.end()) return info;
    info.device = found->second.device;
  }
  info.context = data.context;
  info.peer_mapped = peer_mapped_;
  if (data.symbolName != nullptr) info.kernel = data.symbolName;
  CUfunction function = nullptr;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      info.cooperative = true;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      function = read_plain(info, *static_cast<const cuLaunchKernel_params*>(data.functionParams));
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      function =
          read_extended(info, *static_cast<const cuLaunchKernelEx_params*>(data.functionParams));
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz: {
      const auto& p = *static_cast<const cuGraphLaunch_params*>(data.functionParams);
      std::uint32_t graph = 0;
      (void)cupti_.cuptiGetGraphExecId(p.hGraph, &graph);
      info.graph = graph;
      info.function = p.hGraph;
      info.stream = p.hStream;
      break;
    }
    default:
      return info;  // a copy, a set, a form of launch from before CUDA 4
  }
  if (info.stream == nullptr && of_per_thread_stream(id)) info.stream = CU_STREAM_PER_THREAD;
  if (info.stream == CU_STREAM_PER_THREAD) {
    const Lock lock(mutex_);
    if (!per_thread_) per_thread_ = std::this_thread::get_id();
    per_thread_several_ |= *per_thread_ != std::this_thread::get_id();
  }
  info.capturing = is_capturing(info.stream);
  if (function != nullptr) {
    info.function = function;
    if (!info.capturing) add_function(info, function);
  }
  return info;
}

void LaunchWatch::add_function(LaunchInfo& info, CUfunction function) {
  Function facts;
  bool known = false;
  {
    const Lock lock(mutex_);
    auto& functions = contexts_[info.context].functions;
    if (const auto found = functions.find(function); found != functions.end()) {
      facts = found->second;
      known = true;
    }
  }
  if (!known) {
    const auto ask = [&](CUfunction_attribute attribute) -> std::optional<std::int64_t> {
      int value = 0;
      if (driver_.function_attribute(&value, attribute, function) != CUDA_SUCCESS)
        return std::nullopt;
      return value;
    };
    facts.shared_static = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    facts.registers = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    const auto x = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH).value_or(0);
    const auto y = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT).value_or(0);
    const auto z = ask(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH).value_or(0);
    if (x > 0 && y > 0 && z > 0) facts.cluster = {x, y, z};
    const Lock lock(mutex_);
    contexts_[info.context].functions[function] = facts;
  }
  info.shared_static = facts.shared_static;
  info.registers = facts.registers;
  if (facts.cluster) info.cluster = *facts.cluster;
}

// An error says that a capture forbids the question.
bool LaunchWatch::is_capturing(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver_.stream_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace warpmeter
