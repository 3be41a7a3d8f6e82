// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"

namespace emulator {

std::atomic<const Listener*> the_listener{nullptr};

namespace {

thread_local ApiCall* call_of_thread = nullptr;

struct DeviceTrace {
  Context* context = nullptr;  // stays after a reset: handles may be asked for
  Counters counted;            // up to the end of the last kernel
};

DeviceTrace& trace_of(int device) {
  static auto* all = new std::vector<DeviceTrace>(static_cast<std::size_t>(the_chip().devices));
  return (*all)[static_cast<std::size_t>(device)];
}

// Calls that the real runtime answers without a context.
bool works_without_context(std::string_view name) {
  constexpr std::array names{
      "cudaGetDeviceCount",      "cudaGetDeviceProperties",   "cudaDeviceGetAttribute",
      "cudaGetDevice",           "cudaDeviceGetPCIBusId",     "cudaDeviceGetByPCIBusId",
      "cudaDeviceCanAccessPeer", "cudaDeviceGetP2PAttribute", "cudaSetDevice"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Callbacks see what the program sees: virtual time, and a lock that they can take.
template <typename Body>
void outside(EngineLock& lock, Body body) {
  const bool inside = host_thread.in_call;
  host_thread.in_call = false;
  lock.unlock();
  body();
  lock.lock();
  host_thread.in_call = inside;
}

}  // namespace

LaunchCall launch_call(const void* function, dim3 grid, dim3 block, std::size_t shared,
                       cudaStream_t stream) {
  LaunchCall launch;
  launch.function = function;
  const dim3* const from[] = {&grid, &block};
  std::uint32_t* const to[] = {launch.grid, launch.block};
  for (int i = 0; i < 2; ++i) {
    to[i][0] = from[i]->x;
    to[i][1] = from[i]->y;
    to[i][2] = from[i]->z;
  }
  launch.shared = static_cast<std::uint32_t>(shared);
  launch.stream = stream;
  return launch;
}

LaunchCall launch_call(const cudaLaunchConfig_t* config, const void* function) {
  if (config == nullptr) return {};
  LaunchCall launch = launch_call(function, config->gridDim, config->blockDim,
                                  config->dynamicSmemBytes, config->stream);
  launch.extended = true;
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      launch.cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      launch.cluster[0] = attribute.val.clusterDim.x;
      launch.cluster[1] = attribute.val.clusterDim.y;
      launch.cluster[2] = attribute.val.clusterDim.z;
    }
  }
  return launch;
}

ApiCall* current_call() { return call_of_thread; }

ApiCall::ApiCall(const char* name, const LaunchCall& launch) noexcept {
  try {
    if (!start()) return;
  } catch (...) {
    return;  // the call itself says why
  }
  const Listener* const to = listener();
  if (to == nullptr || call_of_thread != nullptr || host_thread.in_call) return;
  active_ = true;
  call_of_thread = this;
  site.function = name;
  {
    const EngineLock lock(engine().mutex);
    site.begin_ns = clock_of(engine().now());
    site.launch = launch;
    const Kernel* kernel =
        launch.function == nullptr ? nullptr : registry().kernel(launch.function);
    if (kernel != nullptr) site.kernel = kernel->name.c_str();
    site.launch.function = kernel;
    site.context = context_of(thread_state().device, false);
  }
  to->enter(site);
}

ApiCall::~ApiCall() {
  if (!active_) return;
  const Listener* const to = listener();
  if (to != nullptr) {
    for (const Resource& resource : resources) to->resource(resource);
    for (Synchronization& synchronization : synchronizations) {
      synchronization.correlation = site.correlation;
      to->synchronized(synchronization);
    }
    {
      const EngineLock lock(engine().mutex);
      site.end_ns = clock_of(engine().now());
      site.context = context_of(thread_state().device, false);
    }
    to->exit(site);
  }
  call_of_thread = nullptr;
}

void note_result(int code) {
  if (call_of_thread != nullptr) call_of_thread->site.result = code;
}

const Context* context_of(int device, bool create) {
  DeviceTrace& trace = trace_of(device);
  if (trace.context == nullptr && create) {
    static std::uint32_t count = 0;
    Stream* const legacy = streams().find(nullptr, device);
    trace.context = new Context{device, ++count, legacy->id};
  }
  return trace.context;
}

void need_context(int device, const char* function, EngineLock& lock) {
  if (trace_of(device).context != nullptr || works_without_context(function)) return;
  context_of(device, true);
  tell_now(about(Resource::Kind::context_created, device), lock);
}

void destroy_context(int device, EngineLock& lock) {
  if (trace_of(device).context == nullptr) return;
  tell_now(about(Resource::Kind::context_destroying, device), lock);
  trace_of(device).context = nullptr;
}

Resource about(Resource::Kind kind, int device) {
  Resource resource;
  resource.kind = kind;
  resource.context = context_of(device, false);
  return resource;
}

void tell(const Resource& resource) {
  if (call_of_thread != nullptr) call_of_thread->resources.push_back(resource);
}

void tell_now(const Resource& resource, EngineLock& lock) {
  const Listener* const to = listener();
  if (to != nullptr) outside(lock, [&] { to->resource(resource); });
}

void tell_wait(Synchronization::Kind kind, const Stream* stream, int device, Time begin,
               std::uint32_t event) {
  if (call_of_thread == nullptr) return;
  Synchronization s;
  s.kind = kind;
  s.context = context_of(device, false);
  s.stream = stream == nullptr ? 0 : stream->id;
  s.handle = stream == nullptr || stream->legacy
                 ? nullptr
                 : reinterpret_cast<CUstream>(const_cast<Stream*>(stream));
  s.event = event;
  s.begin_ns = clock_of(begin);
  s.end_ns = clock_of(engine().now());
  call_of_thread->synchronizations.push_back(s);
}

Work work_of(const Op& op, Work::Kind kind, Time begin, Time end) {
  Work work;
  work.kind = kind;
  work.device = op.device;
  const Context* const context = context_of(op.device, false);
  work.context = context == nullptr ? 0 : context->id;
  work.stream = op.origin.stream;
  work.correlation = op.origin.correlation;
  work.graph = op.origin.graph;
  work.node = op.origin.node;
  work.begin_ns = clock_of(begin);
  work.end_ns = clock_of(end);
  return work;
}

void tell_work(const Work& work) {
  const Listener* const to = listener();
  if (to != nullptr) to->work(work);
}

void tell_kernel(const Op& op, const Grid& grid, Time end) {
  const Counters now = grid.device->model().counters;
  Counters& counted = trace_of(op.device).counted;
  if (listener() != nullptr) {
    Work work = work_of(op, Work::Kind::kernel, grid.device->time_of(grid.begin_cycle), end);
    const auto put = [](std::uint32_t(&to)[3], const Dim& from) {
      to[0] = from.x;
      to[1] = from.y;
      to[2] = from.z;
    };
    work.name = grid.program->name.c_str();
    work.id = grid.id;
    put(work.grid, grid.grid);
    put(work.block, grid.block);
    put(work.cluster, grid.cluster);
    work.static_shared = grid.program->shared_bytes;
    work.dynamic_shared = grid.dynamic_shared;
    work.registers = static_cast<std::uint32_t>(registers_per_thread());
    work.local_bytes = grid.program->local_bytes;
    work.cycles = grid.end_cycle - grid.begin_cycle;
    work.counters = now - counted;
    tell_work(work);
  }
  counted = now;
}

}  // namespace emulator
