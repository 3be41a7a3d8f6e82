// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <string>
#include <vector>

#include "emulator/runtime/engine.h"
#include "emulator/runtime/trace.h"

namespace emulator {

using Lock = std::unique_lock<std::mutex>;

struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

// What CUDA keeps for each host thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  std::vector<LaunchConfiguration> configurations;
};
ThreadState& thread_state();

// Decides which time a host thread sees (host_clock.cpp).
struct HostThread {
  bool uses_runtime = false;
  bool in_call = false;
};
inline thread_local HostThread host_thread;

// For the extent of an entry point.
class InCall {
 public:
  InCall() : outer_(host_thread.in_call) { host_thread.in_call = true; }
  ~InCall() { host_thread.in_call = outer_; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  bool outer_;
};

enum class Reports : std::uint8_t { yes, no };  // whether an error stays for cudaGetLastError

cudaError_t report(cudaError_t code, Reports reports);
cudaError_t report_exception(Reports reports);
void explain(const std::string& text);  // one line on stderr

// Every entry point runs its body through this: takes the lock, spends the host's time, turns
// exceptions into errors, keeps the last error. A device that has failed answers with its error.
// `name`: of the entry point.
template <typename Body>
cudaError_t call(Body&& body, Reports reports = Reports::yes,
                 const char* name = __builtin_FUNCTION()) {
  const ApiCall api(name);
  const InCall in_call;
  try {
    if (!start()) return report(cudaErrorInitializationError, reports);
    Lock lock(engine().mutex);
    host_thread.uses_runtime = true;  // not where there is no device
    engine().spend_ns(the_chip().api_ns);
    need_context(thread_state().device, name, lock);
    const cudaError_t fault = engine().fault(thread_state().device);
    if (fault != cudaSuccess) return report(fault, reports);
    cudaError_t code = body(lock);
    const cudaError_t after = engine().fault(thread_state().device);
    if (code == cudaSuccess && after != cudaSuccess) code = after;
    return report(code, reports);
  } catch (...) {
    return report_exception(reports);
  }
}

}  // namespace emulator
