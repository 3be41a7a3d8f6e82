// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Fat binaries that the program loads itself.
#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"

using emulator::call;
using emulator::Lock;
using emulator::Module;
using emulator::registry;

extern "C" {

EMULATOR_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                             cudaJitOption*, void**, unsigned int,
                                             cudaLibraryOption*, void**, unsigned int) {
  return call([&](Lock&) -> cudaError_t {
    if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
    Module* module = registry().add_module(code);
    try {
      module->ptx();
    } catch (...) {
      registry().remove_module(module);
      throw;
    }
    *library = reinterpret_cast<cudaLibrary_t>(module);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&](Lock& lock) -> cudaError_t {
    (void)lock;
    // Queued launches may still refer to its programs; what it holds stays until the process ends.
    return library == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library,
                                              const char* name) {
  return call([&](Lock&) -> cudaError_t {
    auto* module = reinterpret_cast<Module*>(library);
    if (kernel == nullptr || module == nullptr || name == nullptr) return cudaErrorInvalidValue;
    const auto& functions = module->ptx().functions;
    const auto found = functions.find(name);
    if (found == functions.end() || !found->second.entry) return cudaErrorSymbolNotFound;
    *kernel = reinterpret_cast<cudaKernel_t>(registry().add_kernel(module, nullptr, name));
    return cudaSuccess;
  });
}

}  // extern "C"
