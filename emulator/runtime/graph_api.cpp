// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Graphs: capture, instantiate, launch.
#include <algorithm>
#include <memory>
#include <vector>

#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"
#include "emulator/runtime/stream.h"

using emulator::call;
using emulator::Graph;
using emulator::Lock;
using emulator::Resource;
using emulator::Stream;
using emulator::streams;
using emulator::thread_state;

namespace {

// Handles are pointers to shared pointers; an instance keeps a copy of its graph.
using Handle = std::shared_ptr<Graph>;

std::vector<std::unique_ptr<Handle>>& handles() {
  static auto* list = new std::vector<std::unique_ptr<Handle>>();
  return *list;
}

Handle* find(const void* handle) {
  for (const auto& known : handles()) {
    if (known.get() == handle) return known.get();
  }
  return nullptr;
}

Resource about(Resource::Kind kind, Handle* graph) {
  Resource resource = emulator::about(kind, thread_state().device);
  resource.graph = reinterpret_cast<CUgraph>(graph);
  return resource;
}

Handle* keep(Handle graph) {
  handles().push_back(std::make_unique<Handle>(std::move(graph)));
  return handles().back().get();
}

void forget(const void* handle) {
  std::erase_if(handles(), [handle](const auto& known) { return known.get() == handle; });
}

cudaError_t destroy(const void* handle, Resource::Kind kind,
                    const char* name = __builtin_FUNCTION()) {
  const auto body = [&](Lock& lock) -> cudaError_t {
    Handle* const found = find(handle);
    if (found == nullptr) return cudaErrorInvalidValue;
    Resource resource = about(kind, found);
    if (kind == Resource::Kind::exec_destroying)
      resource.exec = reinterpret_cast<CUgraphExec>(found);
    emulator::tell_now(resource, lock);
    forget(handle);
    return cudaSuccess;
  };
  return call(body, emulator::Reports::yes, name);
}

CUgraphNode handle_of(const Graph::Node& node) {
  return reinterpret_cast<CUgraphNode>(const_cast<Graph::Node*>(&node));
}

// A graph of its own, whose nodes are others. `from` and `to` are the handles that are told of.
std::shared_ptr<Graph> clone(const Graph& graph, Handle* from, Handle* to) {
  auto copy = std::make_shared<Graph>(graph);
  copy->id = emulator::next_graph_id();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Graph::Node& node = copy->nodes[i];
    node.id = emulator::next_node_id();
    Resource resource = about(Resource::Kind::node_cloned, to);
    resource.original_graph = reinterpret_cast<CUgraph>(from);
    resource.node = handle_of(node);
    resource.original_node = handle_of(graph.nodes[i]);
    resource.node_type = static_cast<CUgraphNodeType>(node.type);
    emulator::tell(resource);
    if (node.child != nullptr) node.child = clone(*node.child, from, to);
  }
  return copy;
}

cudaError_t instantiate(cudaGraphExec_t* instance, cudaGraph_t graph,
                        const char* name = __builtin_FUNCTION()) {
  const auto body = [&](Lock&) -> cudaError_t {
    Handle* const found = find(graph);
    if (instance == nullptr || found == nullptr) return cudaErrorInvalidValue;
    Handle* const exec = keep(nullptr);
    Resource resource = about(Resource::Kind::exec_creating, found);
    emulator::tell(resource);
    *exec = clone(**found, found, exec);
    (*exec)->exec_id = emulator::next_graph_id();
    *instance = reinterpret_cast<cudaGraphExec_t>(exec);
    resource.kind = Resource::Kind::exec_created;
    resource.exec = reinterpret_cast<CUgraphExec>(exec);
    emulator::tell(resource);
    return cudaSuccess;
  };
  return call(body, emulator::Reports::yes, name);
}

}  // namespace

namespace emulator {

const Graph* graph_behind(const void* handle) {
  const Handle* const found = find(handle);
  return found == nullptr ? nullptr : found->get();
}

}  // namespace emulator

extern "C" {

EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call([&](Lock&) -> cudaError_t {
    Stream* stream = streams().find(handle, thread_state().device);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture != nullptr) return cudaErrorIllegalState;
    stream->capture = std::make_shared<emulator::Capture>();
    stream->capture->mode = mode;
    Handle* const kept = keep(stream->capture->graph);
    stream->capture->handle = kept;
    emulator::tell(about(Resource::Kind::graph_created, kept));
    stream->capture_origin = true;
    stream->capture_nodes.clear();
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call([&](Lock&) -> cudaError_t {
    Stream* stream = streams().find(handle, thread_state().device);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    if (!stream->capture_origin) return cudaErrorStreamCaptureUnmatched;
    const auto capture = stream->capture;
    const auto& nodes = capture->graph->nodes;
    // All that was captured must have been joined into this stream.
    std::vector<bool> joined(nodes.size(), false);
    std::vector<std::size_t> open = stream->capture_nodes;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (joined[at]) continue;
      joined[at] = true;
      open.insert(open.end(), nodes[at].dependencies.begin(), nodes[at].dependencies.end());
    }
    streams().end_capture(capture.get());
    *graph = nullptr;
    const bool unjoined = std::find(joined.begin(), joined.end(), false) != joined.end();
    if (capture->invalid || unjoined) {
      forget(capture->handle);
      return capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
    }
    *graph = static_cast<cudaGraph_t>(capture->handle);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
  return call([&](Lock&) -> cudaError_t {
    if (graph == nullptr) return cudaErrorInvalidValue;
    Handle* const handle = keep(std::make_shared<Graph>());
    *graph = reinterpret_cast<cudaGraph_t>(handle);
    emulator::tell(about(Resource::Kind::graph_created, handle));
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* instance, cudaGraph_t graph,
                                              unsigned long long) {
  return instantiate(instance, graph);
}
EMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* instance, cudaGraph_t graph,
                                                       unsigned long long) {
  return instantiate(instance, graph);
}
EMULATOR_API cudaError_t cudaGraphUpload(cudaGraphExec_t instance, cudaStream_t) {
  return call(
      [&](Lock&) { return find(instance) == nullptr ? cudaErrorInvalidValue : cudaSuccess; });
}
EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t handle) {
  const emulator::ApiCall api(__func__, emulator::graph_call(instance, handle));
  return call([&](Lock&) -> cudaError_t {
    const Handle* found = find(instance);
    Stream* stream = streams().find(handle, thread_state().device);
    if (found == nullptr) return cudaErrorInvalidValue;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    streams().launch(*stream, *found);
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies,
                                                    std::size_t count, cudaGraph_t child) {
  return call([&](Lock&) -> cudaError_t {
    Handle* found = find(graph);
    Handle* inner = find(child);
    if (node == nullptr || found == nullptr || inner == nullptr || found == inner ||
        (count > 0 && dependencies == nullptr)) {
      return cudaErrorInvalidValue;
    }
    auto& nodes = (*found)->nodes;
    std::vector<std::size_t> before;
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const Graph::Node& known) {
        return reinterpret_cast<cudaGraphNode_t>(const_cast<Graph::Node*>(&known)) ==
               dependencies[i];
      });
      if (at == nodes.end()) return cudaErrorInvalidValue;
      before.push_back(static_cast<std::size_t>(at - nodes.begin()));
    }
    // The graph as it is now: later changes of `child` do not matter.
    nodes.push_back({{},
                     cudaGraphNodeTypeGraph,
                     before,
                     clone(**inner, inner, found),
                     emulator::next_node_id(),
                     emulator::Launched{}});
    *node = handle_of(nodes.back());
    Resource resource = about(Resource::Kind::node_created, found);
    resource.node = *node;
    resource.node_type = CU_GRAPH_NODE_TYPE_GRAPH;
    emulator::tell(resource);
    return cudaSuccess;
  });
}

EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return destroy(graph, Resource::Kind::graph_destroying);
}
EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance) {
  return destroy(instance, Resource::Kind::exec_destroying);
}

EMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                           std::size_t* count) {
  return call([&](Lock&) -> cudaError_t {
    const Handle* found = find(graph);
    if (found == nullptr || count == nullptr) return cudaErrorInvalidValue;
    auto& list = (*found)->nodes;
    if (nodes != nullptr) {
      for (std::size_t i = 0; i < *count; ++i) {
        nodes[i] = i < list.size() ? reinterpret_cast<cudaGraphNode_t>(&list[i]) : nullptr;
      }
      *count = std::min(*count, list.size());
    } else {
      *count = list.size();
    }
    return cudaSuccess;
  });
}
EMULATOR_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Lock&) -> cudaError_t {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = reinterpret_cast<const Graph::Node*>(node)->type;
    return cudaSuccess;
  });
}

}  // extern "C"
