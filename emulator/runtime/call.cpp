// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/call.h"

#include <cstdio>

#include "emulator/machine/fault.h"

namespace emulator {

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

cudaError_t report(cudaError_t code, Reports reports) {
  note_result(code);
  if (code != cudaSuccess && reports == Reports::yes) thread_state().last_error = code;
  return code;
}

void explain(const std::string& text) {
  std::fprintf(stderr, "warpmeter emulated GPU: %s\n", text.c_str());
}

cudaError_t report_exception(Reports reports) {
  try {
    throw;
  } catch (const Fault& fault) {
    explain(fault.what());
    return report(fault.code, reports);
  } catch (const std::exception& error) {
    explain(error.what());
    return report(cudaErrorInitializationError, reports);
  }
}

}  // namespace emulator
