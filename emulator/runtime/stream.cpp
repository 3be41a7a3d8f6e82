// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/stream.h"

#include <algorithm>
#include <map>

#include "emulator/runtime/trace.h"

namespace emulator {

namespace {

void tell_node(const Stream& stream, const Graph::Node& node) {
  if (current_call() == nullptr) return;
  Resource resource = about(Resource::Kind::node_created, stream.device);
  resource.graph = static_cast<CUgraph>(stream.capture->handle);
  resource.node = reinterpret_cast<CUgraphNode>(const_cast<Graph::Node*>(&node));
  resource.node_type = static_cast<CUgraphNodeType>(node.type);
  tell(resource);
}

}  // namespace

std::uint32_t next_graph_id() {
  static std::uint32_t count = 0;
  return ++count;
}

std::uint64_t next_node_id() {
  static std::uint64_t count = 0;
  return ++count;
}

Streams& streams() {
  static Streams* instance = new Streams();
  return *instance;
}

Streams::Streams() {
  for (int device = 0; device < the_chip().devices; ++device) {
    legacy_.push_back(create(device, 0, 0));
    legacy_.back()->legacy = true;
  }
}

Stream* Streams::create(int device, unsigned int flags, int priority) {
  streams_.push_back(std::make_unique<Stream>());
  Stream& stream = *streams_.back();
  static std::uint32_t count = 6;
  stream.id = ++count;
  stream.device = device;
  stream.flags = flags;
  stream.priority = priority;
  return &stream;
}

Streams::Owner::const_iterator Streams::find_owned(const Stream* stream) const {
  return std::find_if(streams_.begin(), streams_.end(),
                      [stream](const auto& owned) { return owned.get() == stream; });
}

bool Streams::owns(const Stream* stream) const { return find_owned(stream) != streams_.end(); }

Stream* Streams::find(cudaStream_t handle, int device) {
  const auto at = static_cast<std::size_t>(device);
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_[at];
  if (handle == cudaStreamPerThread) {  // made when the thread first asks; lives on after it
    thread_local std::map<int, Stream*> own;
    Stream*& stream = own[device];
    if (stream == nullptr) stream = create(device, 0, 0);
    return stream;
  }
  auto* stream = reinterpret_cast<Stream*>(handle);
  return owns(stream) ? stream : nullptr;
}

// The legacy stream waits for all blocking streams of its device, and they for it.
std::vector<OpPtr> Streams::waits_of(Stream& stream) {
  std::vector<OpPtr> waits{stream.last};
  if (stream.legacy) {
    for (const auto& other : streams_) {
      if (other->device == stream.device && other->blocking()) waits.push_back(other->last);
    }
  } else if (stream.blocking()) {
    waits.push_back(legacy_[static_cast<std::size_t>(stream.device)]->last);
  }
  return waits;
}

void Streams::submit(Stream& stream, const OpPtr& op, const std::vector<OpPtr>& more) {
  std::vector<OpPtr> waits = waits_of(stream);
  waits.insert(waits.end(), more.begin(), more.end());
  stream.last = op;
  op->origin.stream = stream.id;
  engine().submit(op, waits);
}

cudaError_t Streams::add(Stream& stream, cudaGraphNodeType type, const MakeOp& make,
                         const Launched& launched) {
  if (stream.legacy && capturing(stream.device)) return cudaErrorStreamCaptureImplicit;
  if (stream.capture == nullptr) {
    submit(stream, make());
    return cudaSuccess;
  }
  if (stream.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  auto& nodes = stream.capture->graph->nodes;
  nodes.push_back({make, type, stream.capture_nodes, nullptr, next_node_id(), launched});
  stream.capture_nodes = {nodes.size() - 1};
  tell_node(stream, nodes.back());
  return cudaSuccess;
}

cudaError_t Streams::add_dependent(Stream& stream, const std::shared_ptr<Grid>& launch,
                                   const Kernel* kernel) {
  const OpPtr prior = stream.last;
  if (stream.capture != nullptr || prior == nullptr || prior->done || prior->trigger == nullptr) {
    return add(stream, cudaGraphNodeTypeKernel, make_kernel(stream.device, launch),
               {kernel, launch});
  }
  launch->prerequisite = std::make_shared<Prerequisite>();
  const OpPtr op = make_kernel(stream.device, launch)();
  op->origin.stream = stream.id;
  std::vector<OpPtr> waits = waits_of(stream);
  std::replace(waits.begin(), waits.end(), prior, prior->trigger);
  engine().submit(op, waits);
  engine().submit(make_release(stream.device, launch->prerequisite)(), {prior});
  // The stream has come so far when both have ended.
  const OpPtr both = make_marker(stream.device)();
  both->trigger = op->trigger;
  engine().submit(both, {prior, op});
  stream.last = both;
  return cudaSuccess;
}

// Into a capture, as a child graph.
void Streams::launch(Stream& stream, const std::shared_ptr<Graph>& graph) {
  if (stream.capture == nullptr) {
    stream.last = launch_graph(*graph, stream, waits_of(stream), graph->exec_id);
    return;
  }
  auto& nodes = stream.capture->graph->nodes;
  nodes.push_back(
      {{}, cudaGraphNodeTypeGraph, stream.capture_nodes, graph, next_node_id(), Launched{}});
  stream.capture_nodes = {nodes.size() - 1};
  tell_node(stream, nodes.back());
}

void Streams::end_capture(const Capture* capture) {
  for (const auto& stream : streams_) {
    if (stream->capture.get() != capture) continue;
    stream->capture = nullptr;
    stream->capture_origin = false;
    stream->capture_nodes.clear();
  }
}

bool Streams::capturing(int device) const {
  return std::any_of(streams_.begin(), streams_.end(), [device](const auto& stream) {
    return stream->device == device && stream->capture != nullptr && stream->blocking();
  });
}

bool Streams::spoil_captures(cudaStreamCaptureMode last) {
  bool any = false;
  for (const auto& stream : streams_) {
    if (stream->capture == nullptr || stream->capture->mode > last) continue;
    stream->capture->invalid = any = true;
  }
  return any;
}

OpPtr Streams::all_work(int device) {
  const OpPtr marker = make_marker(device)();
  std::vector<OpPtr> waits;
  for (const auto& stream : streams_) {
    if (stream->device == device) waits.push_back(stream->last);
  }
  marker->enqueued = 0;
  engine().submit(marker, waits);
  return marker;
}

}  // namespace emulator
