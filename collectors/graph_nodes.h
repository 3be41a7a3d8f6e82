// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "collectors/cupti_api.h"
#include "collectors/row_sink.h"

namespace warpmeter {

class Subscription;

// Who made each node of a graph, and when: at replay a kernel has the id of its node and no more,
// so that the range in which it was captured is found through this. One callback for each node that
// is made or cloned, none at a launch. Memory is bounded; nodes beyond are counted.
class GraphNodes {
 public:
  static constexpr std::size_t capacity = 1 << 20;

  // Listens from enable() on.
  GraphNodes(const CuptiApi& cupti, Subscription& subscription);

  void enable(Subscription& subscription, bool on);  // Throws InputError.

  std::size_t drain(RowSink& sink, std::int64_t process_id);

 private:
  void created(CUpti_CallbackId id, const CUpti_GraphData& data);

  const CuptiApi& cupti_;
  std::mutex mutex_;
  std::vector<GraphNodeRow> nodes_;
  std::uint64_t lost_ = 0;
};

}  // namespace warpmeter
