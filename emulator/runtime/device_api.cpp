// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Devices, their properties, limits and peers, and the error state.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/properties.h"
#include "emulator/runtime/stream.h"

using emulator::call;
using emulator::engine;
using emulator::Lock;
using emulator::Reports;
using emulator::the_chip;
using emulator::thread_state;

namespace {

bool valid(int device) { return device >= 0 && device < the_chip().devices; }

cudaError_t synchronize(Lock& lock) {
  if (emulator::streams().spoil_captures(cudaStreamCaptureModeRelaxed))
    return cudaErrorStreamCaptureUnsupported;
  const int device = thread_state().device;
  const emulator::OpPtr marker = emulator::streams().all_work(device);
  const emulator::Time begin = engine().now();
  engine().wait(marker, lock);
  emulator::tell_wait(emulator::Synchronization::Kind::context, nullptr, device, begin);
  return cudaSuccess;
}

}  // namespace

extern "C" {

EMULATOR_API cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](Lock&) -> cudaError_t {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<int>(the_chip().devices);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaSetDevice(int device) {
  return call([&](Lock&) -> cudaError_t {
    if (!valid(device)) return cudaErrorInvalidDevice;
    thread_state().device = device;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return call([&](Lock&) { return valid(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
EMULATOR_API cudaError_t cudaGetDevice(int* device) {
  return call([&](Lock&) -> cudaError_t {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = thread_state().device;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
EMULATOR_API cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  *flags = cudaDeviceScheduleAuto;
  return cudaSuccess;
}
EMULATOR_API cudaError_t cudaDeviceSynchronize() {
  return call(synchronize, Reports::yes, __func__);
}

EMULATOR_API cudaError_t cudaDeviceReset() {
  if (!emulator::host_thread.uses_runtime) return cudaSuccess;
  const emulator::ApiCall api(__func__);
  const emulator::InCall in_call;
  if (!emulator::start()) return cudaErrorInitializationError;
  std::unique_lock lock(engine().mutex);
  const int device = thread_state().device;
  if (engine().fault(device) == cudaSuccess) synchronize(lock);
  emulator::destroy_context(device, lock);
  engine().clear_fault(device);
  emulator::memory().release_all(device);
  thread_state().last_error = cudaSuccess;
  return cudaSuccess;
}

EMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](Lock&) -> cudaError_t {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!valid(device)) return cudaErrorInvalidDevice;
    *properties = emulator::device_properties(the_chip(), device);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Lock&) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!valid(device)) return cudaErrorInvalidDevice;
    const auto found = emulator::device_attribute(the_chip(), device, attribute);
    if (!found) return cudaErrorInvalidValue;
    *value = *found;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Lock&) -> cudaError_t {
    if (!valid(device)) return cudaErrorInvalidDevice;
    if (text == nullptr || length < 13) return cudaErrorInvalidValue;
    // A domain that no machine uses, so that nobody mistakes a real device for it.
    std::snprintf(text, static_cast<std::size_t>(length), "FFFF:%02X:00.0", device + 1);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](Lock&) -> cudaError_t {
    unsigned int bus = 0;
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    if (std::sscanf(text, "%*4x:%2x", &bus) != 1 || !valid(static_cast<int>(bus) - 1))
      return cudaErrorInvalidValue;
    *device = static_cast<int>(bus) - 1;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
EMULATOR_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
EMULATOR_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Lock&) -> cudaError_t {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = static_cast<std::size_t>(the_chip().memory_bytes);
    *free = *total - emulator::memory().used(thread_state().device);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call([&](Lock&) -> cudaError_t {
    if (limit == cudaLimitPersistingL2CacheSize &&
        value > static_cast<std::size_t>(the_chip().l2_bytes)) {
      return cudaErrorInvalidValue;
    }
    return limit <= cudaLimitPersistingL2CacheSize ? cudaSuccess : cudaErrorUnsupportedLimit;
  });
}
EMULATOR_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call([&](Lock&) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (limit) {
      case cudaLimitStackSize:
        *value = 1024;
        return cudaSuccess;
      case cudaLimitPrintfFifoSize:
        *value = 1 << 20;
        return cudaSuccess;
      case cudaLimitMallocHeapSize:
        *value = 8 << 20;
        return cudaSuccess;
      case cudaLimitMaxL2FetchGranularity:
        *value = 64;
        return cudaSuccess;
      case cudaLimitPersistingL2CacheSize:
        *value = 0;
        return cudaSuccess;
      default:
        return cudaErrorUnsupportedLimit;
    }
  });
}
EMULATOR_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([](Lock&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Lock&) -> cudaError_t {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Lock&) -> cudaError_t {
    if (!valid(device) || !valid(peer)) return cudaErrorInvalidDevice;
    if (can == nullptr) return cudaErrorInvalidValue;
    *can = device != peer;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&](Lock&) -> cudaError_t {
    const int device = thread_state().device;
    if (!valid(peer) || peer == device) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    auto& peers = engine().devices()[static_cast<std::size_t>(device)]->peers;
    return peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}
EMULATOR_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Lock&) -> cudaError_t {
    if (!valid(peer)) return cudaErrorInvalidDevice;
    auto& peers = engine().devices()[static_cast<std::size_t>(thread_state().device)]->peers;
    if (peers.erase(peer) == 0) return cudaErrorPeerAccessNotEnabled;
    emulator::memory().forget_found();
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                   int from, int to) {
  return call([&](Lock&) -> cudaError_t {
    if (!valid(from) || !valid(to) || from == to) return cudaErrorInvalidDevice;
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank:
        *value = 0;
        return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
        *value = 1;
        return cudaSuccess;
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return cudaSuccess;
      default:
        *value = 0;
        return cudaSuccess;
    }
  });
}

EMULATOR_API cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  thread_state().last_error = cudaSuccess;
  return error;
}
EMULATOR_API cudaError_t cudaPeekAtLastError() {
  // A device that has failed goes on saying so; nothing of the runtime is started to find out.
  if (thread_state().last_error == cudaSuccess) return cudaSuccess;
  if (!emulator::host_thread.uses_runtime) return thread_state().last_error;
  std::unique_lock lock(engine().mutex);
  const cudaError_t fault = engine().fault(thread_state().device);
  return fault != cudaSuccess ? fault : thread_state().last_error;
}

EMULATOR_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
EMULATOR_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
