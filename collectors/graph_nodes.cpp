// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/graph_nodes.h"

#include <unistd.h>

#include <utility>

#include "collectors/clock.h"
#include "collectors/subscription.h"

namespace warpmeter {

GraphNodes::GraphNodes(const CuptiApi& cupti, Subscription& subscription) : cupti_(cupti) {
  subscription.listen([this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || data == nullptr) return;
    if (id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && id != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
      return;
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    if (resource.resourceDescriptor != nullptr)
      created(id, *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor));
  });
}

void GraphNodes::enable(Subscription& subscription, bool on) {
  for (const auto id :
       {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    subscription.enable(this, CUPTI_CB_DOMAIN_RESOURCE, id, on);
}

void GraphNodes::created(CUpti_CallbackId id, const CUpti_GraphData& data) {
  GraphNodeRow row;
  std::uint64_t node = 0, source = 0;
  if (cupti_.cuptiGetGraphNodeId(data.node, &node) != CUPTI_SUCCESS) {
    const std::lock_guard lock(mutex_);
    ++lost_;
    return;
  }
  row.node = static_cast<std::int64_t>(node);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
      cupti_.cuptiGetGraphNodeId(data.originalNode, &source) == CUPTI_SUCCESS)
    row.source_node = static_cast<std::int64_t>(source);
  row.thread = ::gettid();
  row.time_ns = monotonic_ns();
  const std::lock_guard lock(mutex_);
  if (nodes_.size() == capacity)
    ++lost_;
  else
    nodes_.push_back(row);
}

std::size_t GraphNodes::drain(RowSink& sink, std::int64_t process_id) {
  std::vector<GraphNodeRow> nodes;
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    nodes.swap(nodes_);
    lost = std::exchange(lost_, 0);
  }
  for (GraphNodeRow& row : nodes) {
    row.process_id = process_id;
    sink.add(row);
  }
  if (lost != 0) {
    LossRow loss;
    loss.process_id = process_id;
    loss.collector = "timeline";
    loss.what = "graph_nodes";
    loss.count = static_cast<std::int64_t>(lost);
    loss.reason = "too many at once, or CUPTI gave them no id";
    sink.add(loss);
  }
  return nodes.size();
}

}  // namespace warpmeter
