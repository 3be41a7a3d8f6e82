// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The entry points of libwarpmeter_inject.so: the CUDA driver calls InitializeInjection in the
// process that CUDA_INJECTION64_PATH is set for, when it is initialized.
#include <stdlib.h>

#include "profiler/session.h"

// Static objects of this library are never destroyed: its writer, and the program's threads in our
// callbacks, go on until the process is gone. All registrations in here bind to this function.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

namespace {

void at_exit(int, void*) {
  if (warpmeter::Session* session = warpmeter::Session::current()) session->finish();
}

}  // namespace

// Always 1: a driver that gets 0 reports an error of the program.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  warpmeter::Session* session = warpmeter::Session::current();
  if (session != nullptr) {
    session->cuda_starts();
    ::on_exit(at_exit, nullptr);  // handlers run in reverse order: before CUDA's own
  }
  return 1;
}
