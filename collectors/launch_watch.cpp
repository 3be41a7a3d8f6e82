// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/launch_watch.h"

#include <algorithm>
#include <string>

#include "collectors/launch_calls.h"
#include "collectors/subscription.h"
#include "core/error.h"

namespace warpmeter {
namespace {

constexpr CUpti_CallbackIdResource resources[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED,        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_STREAM_CREATED,         CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
};

enum class Rare { begins_capture, ends_capture, maps_peer };

// Calls that are watched from the start of CUDA on. A call of the runtime holds one of the driver;
// both are counted, so that it does not matter whether CUPTI tells both.
struct RareCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  Rare what;
};
#define RUNTIME(name) CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER(name) CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name
constexpr RareCall rare_calls[] = {
    {RUNTIME(cudaStreamBeginCapture_v10000), Rare::begins_capture},
    {RUNTIME(cudaStreamBeginCapture_ptsz_v10000), Rare::begins_capture},
    {RUNTIME(cudaStreamBeginCaptureToGraph_v12030), Rare::begins_capture},
    {RUNTIME(cudaStreamBeginCaptureToGraph_ptsz_v12030), Rare::begins_capture},
    {RUNTIME(cudaStreamEndCapture_v10000), Rare::ends_capture},
    {RUNTIME(cudaStreamEndCapture_ptsz_v10000), Rare::ends_capture},
    {RUNTIME(cudaDeviceEnablePeerAccess_v4000), Rare::maps_peer},
    {RUNTIME(cudaIpcOpenMemHandle_v4010), Rare::maps_peer},
    {DRIVER(cuStreamBeginCapture), Rare::begins_capture},
    {DRIVER(cuStreamBeginCapture_ptsz), Rare::begins_capture},
    {DRIVER(cuStreamBeginCapture_v2), Rare::begins_capture},
    {DRIVER(cuStreamBeginCapture_v2_ptsz), Rare::begins_capture},
    {DRIVER(cuStreamBeginCaptureToGraph), Rare::begins_capture},
    {DRIVER(cuStreamBeginCaptureToGraph_ptsz), Rare::begins_capture},
    {DRIVER(cuStreamEndCapture), Rare::ends_capture},
    {DRIVER(cuStreamEndCapture_ptsz), Rare::ends_capture},
    {DRIVER(cuCtxEnablePeerAccess), Rare::maps_peer},
    {DRIVER(cuIpcOpenMemHandle), Rare::maps_peer},
    {DRIVER(cuIpcOpenMemHandle_v2), Rare::maps_peer},
    {DRIVER(cuMemImportFromShareableHandle), Rare::maps_peer},
};
#undef RUNTIME
#undef DRIVER

// The launch that this thread is in. Callbacks may be enabled or disabled in the middle of a call.
thread_local RangeCollector* entered = nullptr;
thread_local bool may_measure = false;  // the thread has been told that the context is idle

}  // namespace

LaunchWatch::LaunchWatch(const CuptiApi& cupti, Subscription& subscription)
    : cupti_(cupti), subscription_(subscription) {
  std::string why;
  const SharedLibrary library = SharedLibrary::open("libcuda.so.1", why);
  if (!library) throw InputError("range: " + why + "; install the NVIDIA driver");
  library.bind("cuStreamQuery", driver_.stream_query);
  library.bind("cuStreamIsCapturing", driver_.stream_capturing);
  library.bind("cuFuncGetAttribute", driver_.function_attribute);
  library.bind("cuCtxGetCurrent", driver_.current_context);
  if (const char* missing = library.missing())
    throw InputError(std::string("range: libcuda.so.1 has no ") + missing +
                     "; install the driver of CUDA 13.0");
  subscription_.listen([this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    called(domain, id, data);
  });
}

void LaunchWatch::start() {
  for (const CUpti_CallbackId id : resources)
    subscription_.enable(this, CUPTI_CB_DOMAIN_RESOURCE, id, true);
  for (const RareCall& call : rare_calls) subscription_.enable(this, call.domain, call.id, true);
}

void LaunchWatch::attach(PcCollector& collector) {
  const std::lock_guard telling(tell_mutex_);
  pc_ = &collector;
  std::map<CUcontext, std::size_t> there;
  {
    const Lock lock(mutex_);
    for (const auto& [context, state] : contexts_) there[context] = state.device;
  }
  for (const auto& [context, device] : there) collector.context_created(context, device);
}

void LaunchWatch::watch_launches(RangeCollector* ranges) {
  ranges_ = ranges;
  for (const LaunchCall& call : driver_launch_calls())
    subscription_.enable(this, CUPTI_CB_DOMAIN_DRIVER_API, call.id, ranges != nullptr);
}

DriverView LaunchWatch::driver_view() {
  DriverView view;
  view.idle = [this](CUcontext context) { return idle(context); };
  view.done = [this](const LaunchInfo& launch) { return done(launch); };
  // The same clock on all threads, also where the program's is a virtual one.
  view.now_ns = [this] {
    std::uint64_t now = 0;
    (void)cupti_.cuptiGetTimestamp(&now);
    return static_cast<std::int64_t>(now);
  };
  return view;
}

LaunchWatch::Lock LaunchWatch::lock_for_a_while() {
  Lock lock(mutex_, patience);
  if (!lock) lost_track_ = true;
  return lock;
}

void LaunchWatch::called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (data == nullptr) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (std::find(std::begin(resources), std::end(resources), id) != std::end(resources))
      resource(id, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    api(domain, id, *static_cast<const CUpti_CallbackData*>(data));
  }
}

void LaunchWatch::resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  const CUcontext context = data.context;
  if (id == CUPTI_CBID_RESOURCE_STREAM_CREATED ||
      id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING) {
    const Lock lock = lock_for_a_while();
    const auto found = lock ? contexts_.find(context) : contexts_.end();
    if (!lock || found == contexts_.end()) return;
    if (id == CUPTI_CBID_RESOURCE_STREAM_CREATED)
      found->second.streams.insert(data.resourceHandle.stream);
    else
      found->second.streams.erase(data.resourceHandle.stream);
    return;
  }
  const std::lock_guard telling(tell_mutex_);
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    std::uint32_t device = 0;
    if (cupti_.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS) return;
    {
      const Lock lock(mutex_);
      contexts_[context].device = device;
    }
    if (pc_ != nullptr) pc_->context_created(context, device);
  } else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    if (pc_ != nullptr) pc_->context_destroyed(context);
    if (RangeCollector* const ranges = ranges_) ranges->context_destroyed(context);
    const Lock lock(mutex_);
    contexts_.erase(context);
  } else {
    if (pc_ != nullptr) pc_->module_unloading(context);
    const Lock lock(mutex_);
    if (const auto found = contexts_.find(context); found != contexts_.end())
      found->second.functions.clear();  // handles come back for others
  }
}

void LaunchWatch::api(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const CUpti_CallbackData& data) {
  for (const RareCall& call : rare_calls) {
    if (call.id != id || call.domain != domain) continue;
    if (call.what == Rare::maps_peer)
      peer_mapped_ = true;
    else
      capture(call.what == Rare::begins_capture, data);
    return;
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) launch(id, data);
}

// While a capture may be under way, no stream is asked and no range begins; one that is open ends
// before a capture begins, if that does not take too long.
void LaunchWatch::capture(bool begins, const CUpti_CallbackData& data) {
  const bool enters = data.callbackSite == CUPTI_API_ENTER;
  const bool failed = !enters && data.functionReturnValue != nullptr &&
                      *static_cast<const int*>(data.functionReturnValue) != 0;
  Lock lock = lock_for_a_while();
  if (!lock) return;
  if (begins && enters) {
    ++captures_;
    range_ended_.wait_for(lock, patience, [this] { return !range_open_; });
  } else if ((begins && failed) || (!begins && !enters)) {
    captures_ = std::max(0, captures_ - 1);
  }
}

void LaunchWatch::launch(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (data.callbackSite == CUPTI_API_EXIT) {
    if (RangeCollector* const ranges = std::exchange(entered, nullptr)) {
      ranges->after_launch({});
      if (std::exchange(may_measure, false)) {
        const Lock lock(mutex_);
        range_open_ = false;
        range_ended_.notify_all();
      }
    }
    return;
  }
  RangeCollector* const ranges = ranges_;
  const LaunchCall* const call = find_launch_call(driver_launch_calls(), id);
  if (ranges == nullptr || call == nullptr || data.context == nullptr) return;
  if (entered != nullptr) entered->after_launch({});  // whose exit was not told
  entered = nullptr;
  const LaunchInfo info = describe(id, data);
  if (info.context == nullptr) return;
  if (!call->kernels) {
    ranges->other_work(info.device);
    return;
  }
  entered = ranges;
  ranges->before_launch(info);
}

// With the lock, so that no stream goes and no capture begins meanwhile.
bool LaunchWatch::idle(CUcontext context) {
  const Lock lock(mutex_);
  if (captures_ > 0 || per_thread_several_ || lost_track_) return false;
  CUcontext current = nullptr;
  if (driver_.current_context(&current) != CUDA_SUCCESS || current != context) return false;
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return false;
  const auto free = [this](CUstream stream) {
    return !is_capturing(stream) && driver_.stream_query(stream) == CUDA_SUCCESS;
  };
  if (!free(CU_STREAM_LEGACY) || (per_thread_ && !free(CU_STREAM_PER_THREAD))) return false;
  const auto& streams = found->second.streams;
  if (!std::all_of(streams.begin(), streams.end(), free)) return false;
  range_open_ = may_measure = true;
  return true;
}

// A launch that failed is done too.
bool LaunchWatch::done(const LaunchInfo& launch) {
  const bool legacy = launch.stream == nullptr || launch.stream == CU_STREAM_LEGACY;
  if (!legacy) return driver_.stream_query(launch.stream) != CUDA_ERROR_NOT_READY;
  const Lock lock(mutex_);
  return captures_ == 0 && driver_.stream_query(launch.stream) != CUDA_ERROR_NOT_READY;
}

void WatchedRanges::arm() {
  RangeCollector::arm();
  try {
    watch_.watch_launches(this);
  } catch (const InputError&) {
    disarm();
    throw;
  }
}

void WatchedRanges::disarm() noexcept {
  RangeCollector::disarm();  // first: a launch that is being measured needs its exit
  try {
    watch_.watch_launches(nullptr);
  } catch (const std::exception&) {  // CUPTI goes on calling, and nobody is told
  }
}

}  // namespace warpmeter
