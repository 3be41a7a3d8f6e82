// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Tells the emulated libcupti what the program does. Costs two loads per call when nobody listens.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "emulator/driver/seam.h"
#include "emulator/runtime/stream.h"

namespace emulator {

extern std::atomic<const Listener*> the_listener;
inline const Listener* listener() { return the_listener.load(std::memory_order_acquire); }

// As at cuInit: makes the devices and runs the injected library, once per process. Throws if there
// is no chip file. In a child of a process that has started there is no CUDA: false.
bool start();
bool started();
bool forked();

// For the extent of an entry point of the runtime; inert inside another one. Make it before InCall:
// the client's callbacks see virtual time. `function`: what is launched.
class ApiCall {
 public:
  explicit ApiCall(const char* name, const LaunchCall& launch = {}) noexcept;
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  ApiSite site;
  // Told when the call ends, without the engine's lock.
  std::vector<Resource> resources;
  std::vector<Synchronization> synchronizations;

 private:
  bool active_ = false;
};

LaunchCall launch_call(const void* function, dim3 grid, dim3 block, std::size_t shared,
                       cudaStream_t stream);
LaunchCall launch_call(const cudaLaunchConfig_t* config, const void* function);
inline LaunchCall graph_call(cudaGraphExec_t exec, cudaStream_t stream) {
  LaunchCall launch;
  launch.exec = exec;
  launch.stream = stream;
  return launch;
}

// The call that the thread is in; null if nobody listens.
ApiCall* current_call();
void note_result(int code);

using EngineLock = std::unique_lock<std::mutex>;
// The primary context of a device, made now if `function` needs one. May give up the lock.
void need_context(int device, const char* function, EngineLock& lock);
const Context* context_of(int device, bool create);
void destroy_context(int device, EngineLock& lock);

void tell(const Resource& resource);                        // when the call ends
void tell_now(const Resource& resource, EngineLock& lock);  // of what is about to go
Resource about(Resource::Kind kind, int device);
// Of a wait that began at `begin` and ends now.
void tell_wait(Synchronization::Kind kind, const Stream* stream, int device, Time begin,
               std::uint32_t event = 0);

// What of a finished op belongs in its record; `begin` and `end` are the engine's.
Work work_of(const Op& op, Work::Kind kind, Time begin, Time end);
void tell_kernel(const Op& op, const Grid& grid, Time end);
void tell_work(const Work& work);

std::uint64_t clock_of(Time time);  // ns of the virtual clock (host_clock.cpp)
std::uint64_t clock_now(bool costs);
int registers_per_thread();
// Of stream_api.cpp, for the driver.
CUresult driver_stream_query(CUstream handle);
CUresult driver_stream_capturing(CUstream handle, CUstreamCaptureStatus* status);
// Of launch.cpp, for the driver.
CUresult driver_function_attribute(int* value, CUfunction_attribute attribute, CUfunction function);
// Of graph_api.cpp: null if there is no such handle.
const Graph* graph_behind(const void* handle);

}  // namespace emulator
