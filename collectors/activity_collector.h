// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <memory>

#include "collectors/activity_buffers.h"
#include "collectors/activity_rows.h"
#include "collectors/collector.h"
#include "collectors/graph_nodes.h"
#include "collectors/subscription.h"

namespace warpmeter {

struct ActivityOptions {
  std::size_t buffer_bytes = std::size_t{4} << 20;
  std::size_t memory_bytes = std::size_t{256} << 20;  // of all buffers together
};

// The timeline: kernels, copies, sets, synchronizations, calls that launch, CUPTI's own overhead.
// It adds no callback to launches.
class ActivityCollector : public Collector {
 public:
  // Registers with CUPTI; throws InputError. One in a process.
  ActivityCollector(const CuptiApi& cupti, Subscription& subscription,
                    const ActivityOptions& options);

  // Before the first drain(): rows need the ids of process and devices.
  void set_target(const Target& target);

  std::string_view name() const override { return "timeline"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;
  Json describe() const override;

  // Asks CUPTI for all that is complete; `last`: also for what is not, after which these records
  // never come again. May wait for the device.
  void flush(bool last) noexcept;

  // Calls are recorded no more, for they cost most; kernels are.
  void shed_calls();

  // Nothing will come any more: what waits for a partner is written by the next drain().
  void close() { closed_ = true; }

  std::uint64_t kernels() const { return rows_ ? rows_->kernels() : 0; }
  std::uint64_t launches() const { return rows_ ? rows_->launches() : 0; }

 private:
  void enable_calls(bool on);

  const CuptiApi& cupti_;
  Subscription& subscription_;
  const ActivityOptions options_;
  ActivityBuffers buffers_;
  GraphNodes graph_nodes_;
  Target target_;
  std::unique_ptr<ActivityRows> rows_;
  std::vector<std::string> refused_;
  std::atomic<bool> armed_{false};
  bool calls_ = true;
  bool closed_ = false;
};

}  // namespace warpmeter
