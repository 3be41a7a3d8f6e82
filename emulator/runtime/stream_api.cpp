// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Streams and events.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/stream.h"

using emulator::call;
using emulator::engine;
using emulator::EventObject;
using emulator::Lock;
using emulator::Stream;
using emulator::streams;
using emulator::Synchronization;
using emulator::tell_wait;
using emulator::the_chip;
using emulator::thread_state;
using emulator::Time;

namespace {

std::vector<std::unique_ptr<EventObject>>& events() {
  static auto* list = new std::vector<std::unique_ptr<EventObject>>();
  return *list;
}

EventObject* find_event(cudaEvent_t handle) {
  auto* event = reinterpret_cast<EventObject*>(handle);
  const bool known = std::any_of(events().begin(), events().end(),
                                 [event](const auto& e) { return e.get() == event; });
  return known ? event : nullptr;
}

emulator::Resource about(emulator::Resource::Kind kind, Stream* stream) {
  emulator::Resource resource = emulator::about(kind, stream->device);
  resource.stream = reinterpret_cast<CUstream>(stream);
  return resource;
}

cudaError_t create(cudaStream_t* handle, unsigned int flags, int priority,
                   const char* name = __builtin_FUNCTION()) {
  const auto body = [&](Lock&) -> cudaError_t {
    if (handle == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    Stream* stream = streams().create(thread_state().device, flags, std::clamp(priority, -5, 0));
    *handle = reinterpret_cast<cudaStream_t>(stream);
    emulator::tell(about(emulator::Resource::Kind::stream_created, stream));
    return cudaSuccess;
  };
  return call(body, emulator::Reports::yes, name);
}

// Runs `body` with the stream behind a handle.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body body, const char* name = __builtin_FUNCTION()) {
  const auto found = [&](Lock& lock) -> cudaError_t {
    Stream* stream = streams().find(handle, thread_state().device);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(*stream, lock);
  };
  return call(found, emulator::Reports::yes, name);
}

// Waiting for a stream that captures is an error and spoils the capture.
cudaError_t refuse_capture(Stream& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  stream.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

// What a synchronisation with the stream waits for: the legacy stream waits for the others too.
emulator::OpPtr last_of(Stream& stream) {
  if (!stream.legacy) return stream.last;
  const emulator::OpPtr marker = emulator::make_marker(stream.device)();
  marker->enqueued = 0;
  streams().submit(stream, marker);
  return marker;
}

}  // namespace

namespace emulator {

CUresult driver_stream_query(CUstream handle) {
  const InCall in_call;
  const Lock lock(engine().mutex);
  Stream* const stream = streams().find(handle, thread_state().device);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (refuse_capture(*stream) != cudaSuccess) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const OpPtr last = last_of(*stream);
  engine().catch_up();
  return engine().finished(last) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult driver_stream_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  const InCall in_call;
  const Lock lock(engine().mutex);
  const Stream* const stream = streams().find(handle, thread_state().device);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = stream->capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

}  // namespace emulator

extern "C" {

EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(stream, cudaStreamDefault, 0);
}
EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return create(stream, flags, 0);
}
EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                                      int priority) {
  return create(stream, flags, priority);
}
EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&](Lock& lock) -> cudaError_t {
    auto* stream = reinterpret_cast<Stream*>(handle);
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread ||
        !streams().owns(stream)) {
      return cudaErrorInvalidResourceHandle;
    }
    emulator::tell_now(about(emulator::Resource::Kind::stream_destroying, stream), lock);
    streams().destroy(stream);  // its work goes on
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream, Lock& lock) {
    const cudaError_t refused = refuse_capture(stream);
    const Time begin = engine().now();
    if (refused == cudaSuccess) {
      engine().wait(last_of(stream), lock);
      tell_wait(Synchronization::Kind::stream, &stream, stream.device, begin);
    }
    return refused;
  });
}
EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream, Lock&) {
    const cudaError_t refused = refuse_capture(stream);
    if (refused != cudaSuccess) return refused;
    const emulator::OpPtr last = last_of(stream);
    engine().catch_up();
    return engine().finished(last) ? cudaSuccess : cudaErrorNotReady;
  });
}
EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle,
                                             unsigned int) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    EventObject* event = find_event(event_handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) {  // the stream joins the capture
      stream.capture = event->capture;
      stream.capture_nodes.insert(stream.capture_nodes.end(), event->capture_nodes.begin(),
                                  event->capture_nodes.end());
      return cudaSuccess;
    }
    if (stream.capture != nullptr) return cudaErrorStreamCaptureIsolation;
    if (event->recorded != nullptr)
      streams().submit(stream, emulator::make_marker(stream.device)(), {event->recorded});
    tell_wait(Synchronization::Kind::stream_wait, &stream, stream.device, engine().now(),
              event->id);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function,
                                            void* data) {
  return with_stream(handle, [&](Stream& stream, Lock&) {
    return streams().add(
        stream, cudaGraphNodeTypeHost,
        emulator::make_host_function(stream.device, [function, data] { function(data); }));
  });
}
EMULATOR_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream.flags;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream.priority;
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream.device;
    return cudaSuccess;
  });
}
// Hints about L2 that the clock model does not follow.
EMULATOR_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID,
                                                const cudaStreamAttrValue*) {
  return with_stream(handle, [](Stream&, Lock&) { return cudaSuccess; });
}
EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                               cudaStreamCaptureStatus* status) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = stream.capture == nullptr ? cudaStreamCaptureStatusNone
              : stream.capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int flags) {
  return call([&](Lock&) -> cudaError_t {
    if (handle == nullptr || flags > 7) return cudaErrorInvalidValue;
    events().push_back(std::make_unique<EventObject>());
    events().back()->device = thread_state().device;
    events().back()->flags = flags;
    static std::uint32_t count = 0;
    events().back()->id = ++count;
    *handle = reinterpret_cast<cudaEvent_t>(events().back().get());
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  const emulator::ApiCall api(__func__);
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}
EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call([&](Lock&) -> cudaError_t {
    const EventObject* event = find_event(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    std::erase_if(events(), [event](const auto& e) { return e.get() == event; });
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event_handle, cudaStream_t handle) {
  return with_stream(handle, [&](Stream& stream, Lock&) -> cudaError_t {
    EventObject* event = find_event(event_handle);
    if (event == nullptr || event->device != stream.device) return cudaErrorInvalidResourceHandle;
    event->capture = stream.capture;
    if (stream.capture != nullptr) {
      event->capture_nodes = stream.capture_nodes;
      return cudaSuccess;
    }
    event->recorded = emulator::make_marker(stream.device)();
    streams().submit(stream, event->recorded);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                  unsigned int) {
  const emulator::ApiCall api(__func__);
  return cudaEventRecord(event, stream);
}
EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call([&](Lock& lock) -> cudaError_t {
    EventObject* event = find_event(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) return cudaErrorCapturedEvent;
    const Time begin = engine().now();
    engine().wait(event->recorded, lock);
    tell_wait(Synchronization::Kind::event, nullptr, event->device, begin, event->id);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&](Lock&) -> cudaError_t {
    EventObject* event = find_event(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) return cudaErrorCapturedEvent;
    engine().catch_up();
    return engine().finished(event->recorded) ? cudaSuccess : cudaErrorNotReady;
  });
}
EMULATOR_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin_handle,
                                              cudaEvent_t end_handle) {
  return call([&](Lock&) -> cudaError_t {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const EventObject* begin = find_event(begin_handle);
    const EventObject* end = find_event(end_handle);
    if (begin == nullptr || end == nullptr || begin->recorded == nullptr ||
        end->recorded == nullptr || ((begin->flags | end->flags) & cudaEventDisableTiming) != 0) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!begin->recorded->done || !end->recorded->done) return cudaErrorNotReady;
    const Time tick = std::llround(the_chip().event_ns * 1e3);
    const Time ticks = end->recorded->ended / tick - begin->recorded->ended / tick;
    *milliseconds = static_cast<float>(static_cast<double>(ticks * tick) * 1e-9);
    return cudaSuccess;
  });
}

}  // extern "C"
