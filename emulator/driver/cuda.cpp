// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// libcuda.so.1 of the emulated GPU: what a profiler asks the driver. Programs run through the
// runtime; memory, streams and launches of the driver API are not here.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "emulator/driver/runtime.h"
#include "emulator/runtime/api.h"

using emulator::Context;
using emulator::runtime;

namespace {

bool ready() { return runtime().started(); }
bool exists(int device) { return device >= 0 && device < runtime().chip().devices; }
CUcontext handle(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}

// The answer of a query about a device; `body` runs when there is one.
template <typename Body>
CUresult about(CUdevice device, const void* result, Body body) {
  if (runtime().forked() || !ready()) return CUDA_ERROR_NOT_INITIALIZED;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  return body();
}

struct Row {
  const char* name;
  void* function;
};
const Row* find_function(const char* name);

}  // namespace

// cuda.h gives some names a version by macros.
#undef cuDeviceGetUuid
#undef cuGetProcAddress
#undef cuDeviceTotalMem
#undef cuDevicePrimaryCtxRelease
#undef cuGraphKernelNodeGetParams

extern "C" {

EMULATOR_API int cuWarpmeterEmulatedDriver() { return 1; }

EMULATOR_API CUresult cuInit(unsigned int flags) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : runtime().start();
}
EMULATOR_API CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
EMULATOR_API CUresult cuGetErrorName(CUresult error, const char** text) {
  static thread_local std::string name;
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  name = "CUDA_ERROR_" + std::to_string(error);
  *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : name.c_str();
  return CUDA_SUCCESS;
}
EMULATOR_API CUresult cuGetErrorString(CUresult error, const char** text) {
  return cuGetErrorName(error, text);
}

EMULATOR_API CUresult cuDeviceGetCount(int* count) {
  return about(0, count, [&] {
    *count = runtime().chip().devices;
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return about(ordinal, device, [&] {
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return about(device, name, [&] {
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "warpmeter emulated %s",
                  runtime().chip().name);
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return about(device, uuid, [&] {
    runtime().uuid(uuid->bytes, device);
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
EMULATOR_API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return about(device, text, [&] {
    if (length < 13) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(text, static_cast<std::size_t>(length), "FFFF:%02X:00.0", device + 1);
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return about(device, bytes, [&] {
    *bytes = runtime().chip().memory_bytes;
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                           CUdevice device) {
  return about(device, value, [&] { return runtime().attribute(value, attribute, device); });
}

EMULATOR_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return about(device, context, [&] {
    *context = handle(runtime().context(device, true));
    return CUDA_SUCCESS;
  });
}
// The context stays: the runtime holds it too.
EMULATOR_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return about(device, "", [] { return CUDA_SUCCESS; });
}
EMULATOR_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags,
                                                 int* active) {
  return about(device, flags, [&] {
    if (active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = 0;
    *active = runtime().context(device, false) != nullptr;
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuCtxGetCurrent(CUcontext* context) {
  return about(0, context, [&] {
    *context = handle(runtime().current());
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuCtxSetCurrent(CUcontext context) {
  return about(0, "", [&] {
    // Without a context the thread keeps its device, as with cudaSetDevice.
    if (context == nullptr) return CUDA_SUCCESS;
    return runtime().set_current(reinterpret_cast<const Context*>(context));
  });
}
EMULATOR_API CUresult cuCtxGetDevice(CUdevice* device) {
  return about(0, device, [&] {
    const Context* const context = runtime().current();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuCtxSynchronize() {
  return about(0, "", [] {
    const Context* const context = runtime().current();
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : runtime().synchronize(context->device);
  });
}

EMULATOR_API CUresult cuStreamQuery(CUstream stream) {
  return about(0, "", [&] { return runtime().stream_query(stream); });
}
EMULATOR_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return about(0, status, [&] { return runtime().stream_capturing(stream, status); });
}
EMULATOR_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                         CUfunction function) {
  return about(0, value, [&] { return runtime().function_attribute(value, attribute, function); });
}

EMULATOR_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return about(0, type, [&] {
    if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = runtime().node_type(node);
    return CUDA_SUCCESS;
  });
}
EMULATOR_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                    CUDA_KERNEL_NODE_PARAMS* params) {
  return about(0, params, [&] {
    return runtime().kernel_node(node, params) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
EMULATOR_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return about(0, name, [&] {
    *name = runtime().kernel_name(function);
    return *name == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

EMULATOR_API CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                          CUdriverProcAddressQueryResult* status) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Row* const row = find_function(name);
  *function = row == nullptr ? nullptr : row->function;
  if (status != nullptr) {
    *status = row == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return row == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
EMULATOR_API CUresult cuGetProcAddress(const char* name, void** function, int version,
                                       cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"

namespace {

const Row* find_function(const char* name) {
#define ROW(name, function) \
  { #name, reinterpret_cast < void*>(function) }
  static const Row rows[] = {ROW(cuInit, cuInit),
                             ROW(cuDriverGetVersion, cuDriverGetVersion),
                             ROW(cuGetErrorName, cuGetErrorName),
                             ROW(cuGetErrorString, cuGetErrorString),
                             ROW(cuDeviceGetCount, cuDeviceGetCount),
                             ROW(cuDeviceGet, cuDeviceGet),
                             ROW(cuDeviceGetName, cuDeviceGetName),
                             ROW(cuDeviceGetUuid, cuDeviceGetUuid_v2),
                             ROW(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId),
                             ROW(cuDeviceTotalMem, cuDeviceTotalMem_v2),
                             ROW(cuDeviceGetAttribute, cuDeviceGetAttribute),
                             ROW(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain),
                             ROW(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2),
                             ROW(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState),
                             ROW(cuCtxGetCurrent, cuCtxGetCurrent),
                             ROW(cuCtxSetCurrent, cuCtxSetCurrent),
                             ROW(cuCtxGetDevice, cuCtxGetDevice),
                             ROW(cuCtxSynchronize, cuCtxSynchronize),
                             ROW(cuStreamQuery, cuStreamQuery),
                             ROW(cuStreamIsCapturing, cuStreamIsCapturing),
                             ROW(cuFuncGetAttribute, cuFuncGetAttribute),
                             ROW(cuGraphNodeGetType, cuGraphNodeGetType),
                             ROW(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2),
                             ROW(cuFuncGetName, cuFuncGetName),
                             ROW(cuGetProcAddress, cuGetProcAddress_v2)};
#undef ROW
  for (const Row& row : rows) {
    if (std::strcmp(row.name, name) == 0) return &row;
  }
  return nullptr;
}

}  // namespace
