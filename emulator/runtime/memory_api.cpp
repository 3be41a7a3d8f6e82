// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Allocation and registration.
#include <unistd.h>

#include <limits>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"
#include "emulator/runtime/stream.h"

using emulator::Allocation;
using emulator::call;
using emulator::engine;
using emulator::Lock;
using emulator::memory;
using emulator::MemoryKind;
using emulator::streams;
using emulator::the_chip;
using emulator::thread_state;

namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (streams().spoil_captures(cudaStreamCaptureModeThreadLocal))
    return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  const int device = thread_state().device;
  const bool on_device = kind == MemoryKind::device || kind == MemoryKind::managed;
  const auto total = static_cast<std::uint64_t>(the_chip().memory_bytes);
  if (on_device && (bytes > total || memory().used(device) + bytes > total))
    return cudaErrorMemoryAllocation;
  static const std::uint64_t host_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (kind == MemoryKind::host && bytes > host_bytes) return cudaErrorMemoryAllocation;
  *pointer = reinterpret_cast<void*>(memory().allocate(bytes, kind, device));
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

// Freeing waits for all work of the device, as the real runtime does.
cudaError_t release(void* pointer, bool on_host, Lock& lock) {
  if (pointer == nullptr) return cudaSuccess;
  const Allocation* found = memory().live(address_of(pointer));
  if (found == nullptr || found->begin != address_of(pointer) ||
      found->kind == MemoryKind::registered || found->kind == MemoryKind::code ||
      on_host != (found->kind == MemoryKind::host)) {
    return cudaErrorInvalidValue;
  }
  engine().wait(streams().all_work(found->device), lock);
  memory().release(address_of(pointer));
  return cudaSuccess;
}

}  // namespace

extern "C" {

EMULATOR_API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call([&](Lock&) { return allocate(pointer, bytes, MemoryKind::device); });
}
EMULATOR_API cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int) {
  return call([&](Lock&) {
    return bytes == 0 ? cudaErrorInvalidValue : allocate(pointer, bytes, MemoryKind::managed);
  });
}
EMULATOR_API cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                         std::size_t height) {
  return call([&](Lock&) -> cudaError_t {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    const std::size_t most = std::numeric_limits<std::size_t>::max() - 511;
    if (width > most || (height > 0 && (width + 511) / 512 * 512 > most / height))
      return cudaErrorMemoryAllocation;
    *pitch = (width + 511) / 512 * 512;
    return allocate(pointer, *pitch * height, MemoryKind::device);
  });
}
EMULATOR_API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int) {
  return call([&](Lock&) { return allocate(pointer, bytes, MemoryKind::host); });
}
EMULATOR_API cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return call([&](Lock&) { return allocate(pointer, bytes, MemoryKind::host); });
}
EMULATOR_API cudaError_t cudaFree(void* pointer) {
  return call([&](Lock& lock) { return release(pointer, false, lock); });
}
EMULATOR_API cudaError_t cudaFreeHost(void* pointer) {
  return call([&](Lock& lock) { return release(pointer, true, lock); });
}

EMULATOR_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int) {
  return call([&](Lock&) -> cudaError_t {
    if (pointer == nullptr || bytes == 0 || address_of(pointer) + bytes < bytes)
      return cudaErrorInvalidValue;
    return memory().add(address_of(pointer), bytes, thread_state().device)
               ? cudaSuccess
               : cudaErrorHostMemoryAlreadyRegistered;
  });
}
EMULATOR_API cudaError_t cudaHostUnregister(void* pointer) {
  return call([&](Lock& lock) -> cudaError_t {
    const Allocation* found = memory().live(address_of(pointer));
    if (found == nullptr || found->kind != MemoryKind::registered ||
        found->begin != address_of(pointer)) {
      return cudaErrorHostMemoryNotRegistered;
    }
    engine().wait(streams().all_work(found->device), lock);
    memory().remove(address_of(pointer));
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  return call([&](Lock&) -> cudaError_t {
    const Allocation* found = memory().live(address_of(host));
    if (device == nullptr || found == nullptr || !found->on_host()) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return call([&](Lock&) -> cudaError_t {
    const Allocation* found = memory().live(address_of(host));
    if (flags == nullptr || found == nullptr || !found->on_host()) return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped | cudaHostAllocPortable;
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return call([&](Lock&) -> cudaError_t {
    if (streams().find(stream, thread_state().device) == nullptr)
      return cudaErrorInvalidResourceHandle;
    return allocate(pointer, bytes, MemoryKind::device);
  });
}
EMULATOR_API cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t,
                                                 cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, stream);
}
EMULATOR_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return call([&](Lock&) -> cudaError_t {
    const int device = thread_state().device;
    emulator::Stream* stream = streams().find(handle, device);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const Allocation* found = memory().live(address_of(pointer));
    if (found == nullptr || found->begin != address_of(pointer) ||
        found->kind != MemoryKind::device) {
      return cudaErrorInvalidValue;
    }
    return streams().add(*stream, cudaGraphNodeTypeMemFree,
                         emulator::make_host_function(device, [pointer] {
                           if (memory().live(address_of(pointer)) != nullptr)
                             memory().release(address_of(pointer));
                         }));
  });
}
EMULATOR_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&](Lock&) -> cudaError_t {
    if (device < 0 || device >= the_chip().devices) return cudaErrorInvalidDevice;
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(device) + 1);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
EMULATOR_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation,
                                              unsigned int, cudaStream_t) {
  return cudaSuccess;
}
EMULATOR_API cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise,
                                       cudaMemLocation) {
  return cudaSuccess;
}

EMULATOR_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                  const void* pointer) {
  return call([&](Lock&) -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    attributes->device = -1;
    const Allocation* found = memory().live(address_of(pointer));
    if (found == nullptr) {
      attributes->hostPointer = const_cast<void*>(pointer);
      return cudaSuccess;
    }
    attributes->type = found->on_host()                     ? cudaMemoryTypeHost
                       : found->kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                            : cudaMemoryTypeDevice;
    attributes->device = found->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    attributes->hostPointer =
        attributes->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(pointer);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&](Lock&) -> cudaError_t {
    const emulator::Symbol* found = emulator::registry().symbol(symbol);
    if (found == nullptr) return cudaErrorInvalidSymbol;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto address = found->module->address(found->name, thread_state().device);
    if (!address) return cudaErrorInvalidSymbol;
    *pointer = reinterpret_cast<void*>(*address);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return call([&](Lock&) -> cudaError_t {
    const emulator::Symbol* found = emulator::registry().symbol(symbol);
    if (found == nullptr) return cudaErrorInvalidSymbol;
    if (size == nullptr) return cudaErrorInvalidValue;
    *size = found->size;
    return cudaSuccess;
  });
}

}  // extern "C"
