// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the parts of the emulated libcupti share.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/driver/runtime.h"

namespace emulator {

// Planted faults: WARPMETER_EMULATED_CUPTI, a list "key=value,key=value".
class Faults {
 public:
  Faults();
  // The value of a key; `otherwise` if it is not planted.
  std::uint64_t number(const char* key, std::uint64_t otherwise = 0) const;
  std::string text(const char* key) const;
  // The error that is planted for a group of functions, else success.
  CUptiResult error(const char* key) const { return static_cast<CUptiResult>(number(key)); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};
const Faults& faults();

inline constexpr std::size_t runtime_ids = CUPTI_RUNTIME_TRACE_CBID_SIZE;
inline constexpr std::size_t driver_ids = CUPTI_DRIVER_TRACE_CBID_SIZE;
inline constexpr std::size_t callback_ids = 1024;  // of each domain; more than any has
static_assert(runtime_ids < callback_ids && driver_ids < callback_ids);
using CallbackSet = std::bitset<callback_ids>;

// Guarded by `mutex`, of which no callback and no call of the runtime may be made. The engine's
// lock may be held when it is taken.
struct State {
  std::mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  std::string subscriber;  // its name
  std::array<CallbackSet, CUPTI_CB_DOMAIN_SIZE> enabled;
  std::bitset<CUPTI_ACTIVITY_KIND_COUNT> kinds;
  CallbackSet runtime_records;  // functions whose calls are recorded
  CallbackSet driver_records;
  int sessions = 0;  // of PM sampling and the range profiler
  bool system_thread_ids = false;
  std::atomic<std::uint32_t> correlation{0};
  std::atomic<std::int64_t> clock_offset_ns{0};  // of the client's clock to ours
};
State& state();

// Begins or ends to listen, as something is enabled or not. Call with the mutex held.
void refresh_listener();

// What CUPTI says in a child of a process that has used CUDA, and where there is no device.
inline CUptiResult ready() {
  if (runtime().forked()) return CUPTI_ERROR_NOT_INITIALIZED;
  const bool started = runtime().started() || runtime().start() == CUDA_SUCCESS;
  return started ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}
#define EMULATOR_CUPTI_READY()                                                       \
  if (const CUptiResult not_ready = ::emulator::ready(); not_ready != CUPTI_SUCCESS) \
  return not_ready

// Of the functions that take a structure `params`.
#define EMULATOR_PARAMS(type)                                              \
  if (params == nullptr || params->structSize < type##_Params_STRUCT_SIZE) \
  return CUPTI_ERROR_INVALID_PARAMETER

// Of the device of a context; the handle may be stale.
inline const Context* context_of(CUcontext handle) {
  return reinterpret_cast<const Context*>(handle);
}

// Numbers of the callbacks of a function of the runtime ("cudaMemcpyAsync") or driver; 0: unknown.
std::uint32_t runtime_cbid(std::string_view function);
// "cudaMemcpyAsync_v3020"; null: unknown.
const char* callback_name(CUpti_CallbackDomain domain, std::uint32_t cbid);

}  // namespace emulator
