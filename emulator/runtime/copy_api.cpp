// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Copies and fills.
#include <limits>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/module.h"
#include "emulator/runtime/stream.h"

using emulator::Allocation;
using emulator::call;
using emulator::CopyShape;
using emulator::engine;
using emulator::Lock;
using emulator::memory;
using emulator::Stream;
using emulator::streams;
using emulator::thread_state;

namespace {

enum class Waits : std::uint8_t { no, yes };

// The largest number if it does not fit.
std::uint64_t bytes_spanned(const CopyShape& shape, std::size_t pitch) {
  std::uint64_t bytes = 0;
  if (shape.rows == 0) return 0;
  if (__builtin_mul_overflow(shape.rows - 1, pitch, &bytes) ||
      __builtin_add_overflow(bytes, shape.width, &bytes)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return bytes;
}

// Memory that the runtime knows must hold the whole range; a device pointer that it does not know
// is no device pointer.
bool fits(const void* pointer, std::uint64_t bytes, bool must_be_device) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = memory().find(address);
  if (found == nullptr) return !must_be_device && address + bytes >= bytes;
  return !found->freed && bytes <= found->end - address;
}

bool known(const void* pointer) {
  return memory().live(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
}

cudaError_t copy(void* to, const void* from, CopyShape shape, cudaMemcpyKind kind,
                 cudaStream_t handle, Waits waits, Lock& lock) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (shape.width == 0 || shape.rows == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  const int device = thread_state().device;
  Stream* stream = streams().find(handle, device);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!fits(to, bytes_spanned(shape, shape.to_pitch), to_device)) return cudaErrorInvalidValue;
  if (!fits(from, bytes_spanned(shape, shape.from_pitch), from_device))
    return cudaErrorInvalidValue;
  const cudaError_t added =
      streams().add(*stream, cudaGraphNodeTypeMemcpy, emulator::make_copy(device, to, from, shape));
  // Pageable memory is copied before the call returns.
  const bool pageable = !known(to) || !known(from);
  if (added == cudaSuccess && stream->capture == nullptr && (waits == Waits::yes || pageable)) {
    engine().wait(stream->last, lock);
  }
  return added;
}

bool exists(int device) { return device >= 0 && device < emulator::the_chip().devices; }

CopyShape line(std::size_t bytes) { return {bytes, 1, bytes, bytes}; }

cudaError_t fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows,
                 cudaStream_t handle, Waits waits, Lock& lock) {
  if (width == 0 || rows == 0) return cudaSuccess;
  const CopyShape shape{width, rows, pitch, pitch};
  if (to == nullptr || !fits(to, bytes_spanned(shape, pitch), true)) return cudaErrorInvalidValue;
  const int device = thread_state().device;
  Stream* stream = streams().find(handle, device);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const cudaError_t added =
      streams().add(*stream, cudaGraphNodeTypeMemset,
                    emulator::make_fill(device, to, {static_cast<std::byte>(value)}, shape));
  if (added == cudaSuccess && waits == Waits::yes && stream->capture == nullptr)
    engine().wait(stream->last, lock);
  return added;
}

// Address of `offset` in a symbol on the current device; null if there is none so large.
std::byte* inside(const void* symbol, std::size_t offset, std::size_t bytes) {
  const emulator::Symbol* found = emulator::registry().symbol(symbol);
  if (found == nullptr || offset > found->size || bytes > found->size - offset) return nullptr;
  const auto address = found->module->address(found->name, thread_state().device);
  return address ? reinterpret_cast<std::byte*>(*address + offset) : nullptr;
}

cudaError_t wrong_symbol(const void* symbol) {
  return emulator::registry().symbol(symbol) == nullptr ? cudaErrorInvalidSymbol
                                                        : cudaErrorInvalidValue;
}

}  // namespace

extern "C" {

EMULATOR_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                    cudaMemcpyKind kind) {
  return call(
      [&](Lock& lock) { return copy(to, from, line(bytes), kind, nullptr, Waits::yes, lock); });
}
EMULATOR_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return call(
      [&](Lock& lock) { return copy(to, from, line(bytes), kind, stream, Waits::no, lock); });
}
EMULATOR_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                      std::size_t from_pitch, std::size_t width, std::size_t height,
                                      cudaMemcpyKind kind) {
  return call([&](Lock& lock) -> cudaError_t {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return copy(to, from, {width, height, to_pitch, from_pitch}, kind, nullptr, Waits::yes, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                           std::size_t from_pitch, std::size_t width,
                                           std::size_t height, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return call([&](Lock& lock) -> cudaError_t {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return copy(to, from, {width, height, to_pitch, from_pitch}, kind, stream, Waits::no, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                        std::size_t bytes) {
  return call([&](Lock& lock) {
    if (!exists(to_device) || !exists(from_device)) return cudaErrorInvalidDevice;
    return copy(to, from, line(bytes), cudaMemcpyDeviceToDevice, nullptr, Waits::yes, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                             int from_device, std::size_t bytes,
                                             cudaStream_t stream) {
  return call([&](Lock& lock) {
    if (!exists(to_device) || !exists(from_device)) return cudaErrorInvalidDevice;
    return copy(to, from, line(bytes), cudaMemcpyDeviceToDevice, stream, Waits::no, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                            std::size_t offset, cudaMemcpyKind) {
  return call([&](Lock& lock) -> cudaError_t {
    std::byte* to = inside(symbol, offset, bytes);
    if (to == nullptr) return wrong_symbol(symbol);
    return copy(to, from, line(bytes), cudaMemcpyDefault, nullptr, Waits::yes, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                              std::size_t offset, cudaMemcpyKind) {
  return call([&](Lock& lock) -> cudaError_t {
    const std::byte* from = inside(symbol, offset, bytes);
    if (from == nullptr) return wrong_symbol(symbol);
    return copy(to, from, line(bytes), cudaMemcpyDefault, nullptr, Waits::yes, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                                 std::size_t bytes, std::size_t offset,
                                                 cudaMemcpyKind, cudaStream_t stream) {
  return call([&](Lock& lock) -> cudaError_t {
    std::byte* to = inside(symbol, offset, bytes);
    if (to == nullptr) return wrong_symbol(symbol);
    return copy(to, from, line(bytes), cudaMemcpyDefault, stream, Waits::no, lock);
  });
}
EMULATOR_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind,
                                                   cudaStream_t stream) {
  return call([&](Lock& lock) -> cudaError_t {
    const std::byte* from = inside(symbol, offset, bytes);
    if (from == nullptr) return wrong_symbol(symbol);
    return copy(to, from, line(bytes), cudaMemcpyDefault, stream, Waits::no, lock);
  });
}
EMULATOR_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  // To device memory it does not wait, as CUDA says.
  return call(
      [&](Lock& lock) { return fill(to, bytes, value, bytes, 1, nullptr, Waits::no, lock); });
}
EMULATOR_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                         cudaStream_t stream) {
  return call(
      [&](Lock& lock) { return fill(to, bytes, value, bytes, 1, stream, Waits::no, lock); });
}
EMULATOR_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                      std::size_t height) {
  return call(
      [&](Lock& lock) { return fill(to, pitch, value, width, height, nullptr, Waits::no, lock); });
}
EMULATOR_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value,
                                           std::size_t width, std::size_t height,
                                           cudaStream_t stream) {
  return call(
      [&](Lock& lock) { return fill(to, pitch, value, width, height, stream, Waits::no, lock); });
}

}  // extern "C"
