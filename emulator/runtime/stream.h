// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "emulator/runtime/engine.h"

namespace emulator {

// Makes an op for one execution; graphs call it at every launch.
using MakeOp = std::function<OpPtr()>;

struct Kernel;
std::uint32_t next_graph_id();
std::uint64_t next_node_id();

// What a kernel node runs; null for others.
struct Launched {
  const Kernel* kernel = nullptr;
  std::shared_ptr<const Grid> grid;
};

struct Graph {
  struct Node {
    MakeOp make;
    cudaGraphNodeType type;
    std::vector<std::size_t> dependencies;
    std::shared_ptr<const Graph> child;  // instead of an op of its own
    std::uint64_t id = next_node_id();
    Launched launched;
  };
  std::deque<Node> nodes;  // whose addresses are handles
  std::uint32_t id = next_graph_id();
  std::uint32_t exec_id = 0;  // 0: not executable
};

// A capture that one or more streams take part in.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  void* handle = nullptr;  // of the graph
  bool invalid = false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
};

struct Stream {
  int device = 0;
  std::uint32_t id = 0;
  unsigned int flags = 0;
  int priority = 0;
  bool legacy = false;
  OpPtr last;
  std::shared_ptr<Capture> capture;
  bool capture_origin = false;
  std::vector<std::size_t> capture_nodes;  // what the next captured node depends on
  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct EventObject {
  int device = 0;
  std::uint32_t id = 0;
  unsigned int flags = 0;
  OpPtr recorded;
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> capture_nodes;
};

// All streams of the process, and the rules by which their work is ordered.
class Streams {
 public:
  Streams();
  // Null for a handle that is none. 0 and 1 are the legacy stream, 2 that of the calling thread.
  Stream* find(cudaStream_t handle, int device);
  Stream* create(int device, unsigned int flags, int priority);
  void destroy(Stream* stream) { streams_.erase(find_owned(stream)); }
  bool owns(const Stream* stream) const;

  // Adds work to a stream or to the graph that it captures.
  cudaError_t add(Stream& stream, cudaGraphNodeType type, const MakeOp& make,
                  const Launched& launched = {});
  // Adds a kernel that may start when the kernel before it allows that.
  cudaError_t add_dependent(Stream& stream, const std::shared_ptr<Grid>& launch,
                            const Kernel* kernel);
  // Adds an op behind all that `stream` must wait for.
  void submit(Stream& stream, const OpPtr& op, const std::vector<OpPtr>& more = {});
  void launch(Stream& stream, const std::shared_ptr<Graph>& graph);
  // No stream takes part in `capture` any more.
  void end_capture(const Capture* capture);
  // An op that ends when all work queued on the device, or in the stream, has.
  OpPtr all_work(int device);
  bool capturing(int device) const;
  // A call that must not be made during captures of modes up to `last` spoils these. False if
  // there are none.
  bool spoil_captures(cudaStreamCaptureMode last);

 private:
  using Owner = std::vector<std::unique_ptr<Stream>>;
  Owner::const_iterator find_owned(const Stream* stream) const;
  std::vector<OpPtr> waits_of(Stream& stream);

  Owner streams_;
  std::vector<Stream*> legacy_;  // by device
};

Streams& streams();

// Work of each kind. All arguments are copied.
MakeOp make_marker(int device);
MakeOp make_host_function(int device, std::function<void()> function);
struct CopyShape {  // bytes of a row, rows, and the pitches
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t to_pitch = 0;
  std::size_t from_pitch = 0;
};
MakeOp make_copy(int device, void* to, const void* from, CopyShape shape);
MakeOp make_fill(int device, void* to, std::vector<std::byte> pattern, CopyShape shape);
// Tells the grid that waits for it.
MakeOp make_release(int device, std::shared_ptr<Prerequisite> prerequisite);
MakeOp make_kernel(int device, std::shared_ptr<const Grid> launch);
// Launches a graph: an op for each node, after `waits`; returns the one that ends last.
OpPtr launch_graph(const Graph& graph, const Stream& stream, const std::vector<OpPtr>& waits,
                   std::uint32_t exec_id);

}  // namespace emulator
