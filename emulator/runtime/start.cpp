// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The first use of CUDA in a process, and the library that is injected then.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <cstdlib>
#include <thread>

#include "emulator/runtime/call.h"
#include "emulator/runtime/trace.h"

namespace emulator {
namespace {

enum class State : std::uint8_t { no, begun, yes, forked };
std::atomic<State> state{State::no};
std::recursive_mutex* starting = new std::recursive_mutex();

// Only with the emulated driver: a real libcupti could not do anything here.
void inject() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr || dlsym(driver, "cuWarpmeterEmulatedDriver") == nullptr) return;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    explain(fmt::format("CUDA_INJECTION64_PATH: {}", dlerror()));
    return;
  }
  auto* const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    explain(fmt::format("CUDA_INJECTION64_PATH: {} has no InitializeInjection", path));
    return;
  }
  initialize();
}

void in_child() {
  if (state.load() != State::no) state.store(State::forked);
  starting = new std::recursive_mutex();  // a thread that is not here may have held it
}

}  // namespace

bool start() {
  const State now = state.load(std::memory_order_acquire);
  if (now == State::yes) return true;
  if (now == State::forked) return false;
  const std::lock_guard lock(*starting);
  if (state.load() != State::no) return true;  // the injected library's own calls, or done
  engine();                                    // throws if there is no chip file
  static const int once = pthread_atfork(nullptr, nullptr, in_child);
  (void)once;
  state.store(State::begun);
  host_thread.uses_runtime = true;
  inject();
  state.store(State::yes, std::memory_order_release);
  return true;
}

bool started() { return state.load() == State::begun || state.load() == State::yes; }
bool forked() { return state.load() == State::forked; }

}  // namespace emulator
