// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"

#include <fmt/format.h>

#include <string_view>

namespace warpmeter {
namespace {

std::string_view remedy(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver:
      return "Install an NVIDIA driver for CUDA 13.0 (580 or later), or run on --device cpu.";
    case cudaErrorNoDevice:
      return "Check nvidia-smi and CUDA_VISIBLE_DEVICES.";
    case cudaErrorMemoryAllocation:
      return "Free device memory (see nvidia-smi for other processes) or choose a smaller "
             "footprint.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "The driver cannot load this build's kernels: they need compute capability 8.0 and a "
             "driver for CUDA 13.0.";
    case cudaErrorSystemNotReady:
      return "Start nvidia-fabricmanager (NVSwitch systems need it).";
    case cudaErrorDevicesUnavailable:
      return "Another process holds the device exclusively; see nvidia-smi -q -d COMPUTE.";
    case cudaErrorLaunchTimeout:
      return "A display watchdog ended the kernel; use a GPU without a display.";
    case cudaErrorECCUncorrectable:
      return "The device has an uncorrectable memory error: reset or replace it.";
    default:
      return "";
  }
}

}  // namespace

std::string error_text(cudaError_t status, const char* file, int line, const char* call) {
  std::string_view name(file);
  name.remove_prefix(name.find_last_of('/') + 1);  // npos + 1 is 0
  std::string text = fmt::format("{}:{}: {}: {} ({}).", name, line, call, cudaGetErrorName(status),
                                 cudaGetErrorString(status));
  if (!remedy(status).empty()) text += fmt::format(" {}", remedy(status));
  return text;
}

void throw_if_failed(cudaError_t status, const char* file, int line, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw CudaError(status, error_text(status, file, line, call));
}

}  // namespace warpmeter
