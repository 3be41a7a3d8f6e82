// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The entry points of libwarpmeter_inject.so: the CUDA driver calls InitializeInjection in the
// process that CUDA_INJECTION64_PATH is set for, when it is initialized.
#include <stdlib.h>

#include <atomic>
#include <cstdint>

#include "collectors/nvtx_handler.h"
#include "profiler/session.h"

// Static objects of this library are never destroyed: its writer, and the program's threads in our
// callbacks, go on until the process is gone. All registrations in here bind to this function.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

namespace {

void at_exit(int, void*) {
  if (warpmeter::Session* session = warpmeter::Session::existing()) session->finish();
}

std::atomic<bool> nvtx_here{false};  // NVTX calls us, also in forked children

// Handlers run in reverse order: before CUDA's own. Those of a parent run in its children too.
void finish_at_exit() { ::on_exit(at_exit, nullptr); }

}  // namespace

// Always 1: a driver that gets 0 reports an error of the program.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  warpmeter::Session* session = warpmeter::Session::current();
  if (session != nullptr) {
    if (nvtx_here) session->nvtx_starts();
    session->cuda_starts();
    finish_at_exit();
  }
  return 1;
}

// NVTX calls this once for each library that brings a copy of NVTX, where NVTX_INJECTION64_PATH is
// set. 0 would make it unload this library.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*get_export_table)(std::uint32_t)) {
  warpmeter::Session* session = warpmeter::Session::current();
  if (session != nullptr) {
    session->nvtx_starts();
    if (!nvtx_here.exchange(true)) finish_at_exit();
    warpmeter::initialize_nvtx(get_export_table);
  }
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  return warpmeter::initialize_nvtx_extension(module);
}
