// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_error.h"

#include <fmt/format.h>

namespace warpmeter {

const std::vector<CuptiError>& cupti_errors() {
  static const std::vector<CuptiError> errors = {
      {1, "INVALID_PARAMETER",
       "a parameter is not valid; also a metric that this chip or roll-up does not have",
       "compare the name with `warpmeter list --metrics`"},
      {2, "INVALID_DEVICE", "no such CUDA device", "compare with `warpmeter doctor`"},
      {3, "INVALID_CONTEXT", "the CUDA context is missing or was destroyed", ""},
      {4, "INVALID_EVENT_DOMAIN_ID", "no such event domain", ""},
      {5, "INVALID_EVENT_ID", "no such event", ""},
      {6, "INVALID_EVENT_NAME", "no event of this name", ""},
      {7, "INVALID_OPERATION", "not possible in the present state of the session", ""},
      {8, "OUT_OF_MEMORY", "memory ran out", "ask for fewer metrics or smaller buffers"},
      {9, "HARDWARE", "the counters' hardware reported a fault",
       "reset the GPU; look at the kernel log for Xid messages"},
      {10, "PARAMETER_SIZE_NOT_SUFFICIENT", "the caller's buffer is too small", ""},
      {11, "API_NOT_IMPLEMENTED", "this CUPTI does not have the function",
       "use the CUPTI of CUDA 13.0 or newer"},
      {12, "MAX_LIMIT_REACHED", "a limit of the session is reached",
       "ask for fewer metrics or ranges"},
      {13, "NOT_READY", "the object is not ready for this step", ""},
      {14, "NOT_COMPATIBLE", "the object's state does not allow this step", ""},
      {15, "NOT_INITIALIZED", "CUPTI cannot reach the driver",
       "the driver is older than this CUPTI needs, or a stub libcuda is on LD_LIBRARY_PATH"},
      {16, "INVALID_METRIC_ID", "no such metric", ""},
      {17, "INVALID_METRIC_NAME", "no metric of this name",
       "compare the name with `warpmeter list --metrics`"},
      {18, "QUEUE_EMPTY", "nothing is queued", ""},
      {19, "INVALID_HANDLE", "the handle is not valid", ""},
      {20, "INVALID_STREAM", "the stream is not valid", ""},
      {21, "INVALID_KIND", "no such kind of record", ""},
      {22, "INVALID_EVENT_VALUE", "the event's value is not valid", ""},
      {23, "DISABLED", "CUPTI is off because another profiler is on", "stop the other profiler"},
      {24, "INVALID_MODULE", "the module is not valid", ""},
      {25, "INVALID_METRIC_VALUE", "the metric's value is not valid", ""},
      {26, "HARDWARE_BUSY", "somebody else uses the counters",
       "stop DCGM profiling (dcgmi profpause), Nsight Compute or another collector"},
      {27, "NOT_SUPPORTED",
       "not supported: a chip without this profiler, counters of a context together with those of "
       "a device, or PM sampling in more than one pass",
       "ask for the metrics apart"},
      {28, "UM_PROFILING_NOT_SUPPORTED", "unified memory is not profiled on this system", ""},
      {29, "UM_PROFILING_NOT_SUPPORTED_ON_DEVICE", "unified memory is not profiled on this device",
       ""},
      {30, "UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
       "unified memory is not profiled where the GPUs have no peer access", "make one GPU visible"},
      {31, "UM_PROFILING_NOT_SUPPORTED_WITH_MPS", "unified memory is not profiled under MPS",
       "run without MPS"},
      {32, "CDP_TRACING_NOT_SUPPORTED", "launches from kernels are not traced on this device", ""},
      {33, "VIRTUALIZED_DEVICE_NOT_SUPPORTED", "no profiling on this virtual GPU",
       "use the machine itself or a passed-through GPU"},
      {34, "CUDA_COMPILER_NOT_COMPATIBLE", "built by an nvcc before 9.0: results may be wrong",
       "build the program anew"},
      {35, "INSUFFICIENT_PRIVILEGES", "counters need a permission that this user lacks",
       "run as root or with CAP_PERFMON, or have the administrator set "
       "NVreg_RestrictProfilingToAdminUsers=0"},
      {36, "OLD_PROFILER_API_INITIALIZED",
       "the process also uses the old event or metric interface",
       "stop the other profiler in the process"},
      {37, "OPENACC_UNDEFINED_ROUTINE", "the OpenACC library lacks a routine",
       "link OpenACC dynamically"},
      {38, "LEGACY_PROFILER_NOT_SUPPORTED",
       "the old event and metric interface is gone since compute capability 7.5",
       "use a tool that knows the range profiler"},
      {39, "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
       "another tool in the process is CUPTI's one subscriber",
       "run without nsys, ncu, compute-sanitizer, cuda-gdb or the PyTorch profiler"},
      {40, "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
       "the hypervisor forbids profiling of this virtual GPU",
       "have its administrator allow profiling"},
      {41, "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
       "neither profiling nor tracing in confidential-computing mode", "switch the mode off"},
      {42, "CMP_DEVICE_NOT_SUPPORTED", "mining products are not profiled", ""},
      {43, "MIG_DEVICE_NOT_SUPPORTED", "not possible on a MIG instance", "profile with MIG off"},
      {44, "SLI_DEVICE_NOT_SUPPORTED", "not possible on a device in an SLI group",
       "take it out of the group"},
      {45, "WSL_DEVICE_NOT_SUPPORTED", "not supported under WSL", "use native Linux"},
      {46, "INVALID_CHIP_NAME", "this CUPTI does not know the chip", "use a newer CUPTI"},
      {999, "UNKNOWN",
       "an error without a stated cause: on a target no driver or no visible GPU; in planning a "
       "metric that CUPTI lists but cannot schedule",
       "compare with `warpmeter doctor`"},
  };
  return errors;
}

const CuptiError* find_cupti_error(int code) {
  for (const CuptiError& error : cupti_errors())
    if (error.code == code) return &error;
  return nullptr;
}

std::string cupti_error_name(int code) {
  const CuptiError* error = find_cupti_error(code);
  return error == nullptr ? fmt::format("CUPTI error {}", code)
                          : fmt::format("CUPTI_ERROR_{} ({})", error->name, code);
}

std::string describe_cupti_error(int code) {
  const CuptiError* error = find_cupti_error(code);
  if (error == nullptr) return cupti_error_name(code) + ": unknown to warpmeter; use a newer one";
  const bool has_remedy = *error->remedy != '\0';
  return fmt::format("{}: {}{}{}", cupti_error_name(code), error->meaning, has_remedy ? "; " : "",
                     error->remedy);
}

}  // namespace warpmeter
