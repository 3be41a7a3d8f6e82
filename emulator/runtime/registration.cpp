// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the code that nvcc generates calls before main and around a launch.
#include <cstring>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"

using emulator::call;
using emulator::Lock;
using emulator::registry;

namespace {

emulator::Module* module_of(void** handle) { return reinterpret_cast<emulator::Module*>(handle); }

}  // namespace

extern "C" {

EMULATOR_API void** __cudaRegisterFatBinary(void* fatbin) {
  return reinterpret_cast<void**>(registry().add_module(fatbin));
}
EMULATOR_API void __cudaRegisterFatBinaryEnd(void**) {}
// At exit, when work may still be queued: nothing is freed.
EMULATOR_API void __cudaUnregisterFatBinary(void**) {}
EMULATOR_API char __cudaInitModule(void**) { return 0; }

EMULATOR_API void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                         int, uint3*, uint3*, dim3*, dim3*, int*) {
  registry().add_kernel(module_of(handle), stub, name);
}

EMULATOR_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                    std::size_t size, int, int) {
  registry().add_symbol(host, {module_of(handle), name, size});
}

EMULATOR_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                           std::size_t size, int, int) {
  const std::uint64_t address = emulator::memory().allocate(size, emulator::MemoryKind::managed, 0);
  *host = reinterpret_cast<void*>(address);
  module_of(handle)->add_managed(name, address);
  registry().add_symbol(*host, {module_of(handle), name, size});
}

EMULATOR_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                  cudaStream_t stream) {
  emulator::thread_state().configurations.push_back({grid, block, shared, stream});
  return 0;
}

EMULATOR_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                    void* stream) {
  auto& stack = emulator::thread_state().configurations;
  if (stack.empty()) return cudaErrorMissingConfiguration;
  *grid = stack.back().grid;
  *block = stack.back().block;
  *shared = stack.back().shared;
  std::memcpy(stream, &stack.back().stream, sizeof(cudaStream_t));
  stack.pop_back();
  return cudaSuccess;
}

EMULATOR_API cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  *handle = reinterpret_cast<cudaKernel_t>(registry().kernel(stub));
  return *handle == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

}  // extern "C"
