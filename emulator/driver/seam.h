// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the emulated libcudart, libcuda and libcupti tell each other. The three are built together;
// nothing else uses this. All times are ns of the virtual CLOCK_MONOTONIC.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "emulator/machine/counters.h"

namespace emulator {

inline constexpr unsigned seam_version = 2;

// What a CUcontext points to: the primary context of a device, until cudaDeviceReset.
struct Context {
  int device = 0;
  std::uint32_t id = 0;
  std::uint32_t null_stream = 0;  // id of the legacy stream
};

// What a call launches, as the call of the driver inside says it.
struct LaunchCall {
  const void* function = nullptr;  // of the runtime; what the driver knows it by once in a site
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {1, 1, 1};
  std::uint32_t shared = 0;
  CUstream stream = nullptr;
  bool cooperative = false;
  bool extended = false;  // cuLaunchKernelEx
  CUgraphExec exec = nullptr;
};

// A call of the runtime from its begin to its end.
struct ApiSite {
  const char* function = nullptr;  // "cudaMemcpyAsync", or with "_ptsz"
  const char* kernel = nullptr;    // of launches of kernels
  LaunchCall launch;               // its function is null in other calls
  const Context* context = nullptr;
  std::uint32_t correlation = 0;
  std::uint64_t data = 0;         // the client's, from enter to exit
  std::uint64_t driver_data = 0;  // the same for the call of the driver inside
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  int result = 0;
};

enum class Place : std::uint8_t { pageable, pinned, device, managed, code };

// Work of a device that has ended.
struct Work {
  enum class Kind : std::uint8_t { kernel, copy, fill };
  Kind kind = Kind::kernel;
  int device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint32_t graph = 0;  // id of the executable graph; 0: none
  std::uint64_t node = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // Of kernels.
  const char* name = nullptr;  // lives as long as the process
  std::uint64_t id = 0;
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t cluster[3] = {};
  std::uint32_t static_shared = 0;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t registers = 0;
  std::uint64_t local_bytes = 0;  // per thread
  std::uint64_t cycles = 0;
  Counters counters;  // of the device since the kernel before ended: no event counts twice
  // Of copies and fills.
  std::uint64_t bytes = 0;
  Place from = Place::device;
  Place to = Place::device;
  int from_device = 0;
  int to_device = 0;
  std::uint32_t value = 0;
  bool async = false;
};

struct Synchronization {
  enum class Kind : std::uint8_t { event, stream_wait, stream, context };
  Kind kind = Kind::context;
  const Context* context = nullptr;
  CUstream handle = nullptr;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::uint32_t correlation = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

struct Resource {
  enum class Kind : std::uint8_t {
    context_created,
    context_destroying,
    stream_created,
    stream_destroying,
    graph_created,
    graph_destroying,
    graph_cloned,
    node_created,
    node_cloned,
    exec_creating,
    exec_created,
    exec_destroying,
  };
  Kind kind = Kind::context_created;
  const Context* context = nullptr;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraph original_graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphNode original_node = nullptr;
  CUgraphNodeType node_type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphExec exec = nullptr;
};

// libcupti's. All but `work` are called without a lock of the runtime, on the thread that makes the
// call; `work` with the engine's lock: it must not call the runtime.
struct Listener {
  void (*enter)(ApiSite& site) = nullptr;  // sets the correlation
  void (*exit)(ApiSite& site) = nullptr;
  void (*work)(const Work& work) = nullptr;
  void (*synchronized)(const Synchronization& synchronization) = nullptr;
  void (*resource)(const Resource& resource) = nullptr;
};

// Facts of the chip that records and metrics need.
struct ChipFacts {
  const char* name = nullptr;
  int devices = 0;
  int major = 0;
  int minor = 0;
  int sms = 0;
  int sector_bytes = 0;
  std::size_t memory_bytes = 0;
  double sm_hz = 0;
  double dram_bytes_per_second = 0;
};

// The runtime's. None throws. Errors are those of the driver.
struct RuntimeTable {
  unsigned version = seam_version;
  CUresult (*start)() = nullptr;  // as at cuInit: runs the injected library once per process
  bool (*started)() = nullptr;
  bool (*forked)() = nullptr;  // the parent had started the runtime: nothing works here
  void (*listen)(const Listener* listener) = nullptr;  // null: nobody
  const ChipFacts& (*chip)() = nullptr;                // only once started
  // The host's virtual time. A reading with a cost lets loops that wait for a time end.
  std::uint64_t (*now_ns)(bool costs) = nullptr;
  // Calls `function` as a thread that sees virtual time.
  std::uint64_t (*in_virtual_time)(std::uint64_t (*function)()) = nullptr;
  // Runs the device up to the host's time; all that ended before the returned time is known.
  std::uint64_t (*settle)(int device) = nullptr;
  CUresult (*synchronize)(int device) = nullptr;
  const Context* (*context)(int device, bool create) = nullptr;
  const Context* (*current)() = nullptr;  // of the thread; null: none yet
  CUresult (*set_current)(const Context* context) = nullptr;
  CUresult (*attribute)(int* value, int attribute, int device) = nullptr;
  void (*uuid)(char bytes[16], int device) = nullptr;
  // Ids of handles; 0: there is no such.
  std::uint32_t (*stream_id)(CUstream handle, bool per_thread, int device) = nullptr;
  std::uint32_t (*graph_id)(CUgraph graph) = nullptr;
  std::uint32_t (*exec_id)(CUgraphExec exec) = nullptr;
  std::uint64_t (*node_id)(CUgraphNode node) = nullptr;
  CUgraphNodeType (*node_type)(CUgraphNode node) = nullptr;  // not of null
  // The kernel of a node and how it is launched; false if it is none.
  bool (*kernel_node)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) = nullptr;
  const char* (*kernel_name)(CUfunction function) = nullptr;  // null: unknown
  // Leave no error for cudaGetLastError. stream_query spoils a capture, as the driver does.
  CUresult (*stream_query)(CUstream handle) = nullptr;
  CUresult (*stream_capturing)(CUstream handle, CUstreamCaptureStatus* status) = nullptr;
  CUresult (*function_attribute)(int* value, CUfunction_attribute attribute,
                                 CUfunction function) = nullptr;
};

}  // namespace emulator

// Of libcudart. Null if the version is another.
extern "C" const emulator::RuntimeTable* cudaWarpmeterEmulatedRuntime(unsigned version);
// Of libcuda: tells it from a real one.
extern "C" int cuWarpmeterEmulatedDriver();
