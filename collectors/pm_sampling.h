// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collectors/collector.h"
#include "collectors/cupti_profiler_use.h"
#include "collectors/pm_sampler.h"

namespace warpmeter {

// Hardware counters while the program runs: samples of the performance monitors of every device, in
// one pass, nothing is replayed. Device scope: other processes' work is in them. Method and limits:
// docs/pm_sampling.md.
class PmCollector final : public Collector {
 public:
  // Throws InputError if there is no CUPTI, no such set, or no device that can be sampled; a device
  // that cannot be, beside others that can, is named in describe().
  explicit PmCollector(const Target& target, const PmOptions& options = {});
  ~PmCollector() override;

  std::string_view name() const override { return "pm"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;
  Json describe() const override;

 private:
  struct Device {
    TargetDevice target;
    std::unique_ptr<PmSampler> sampler;
    std::string failure;       // why it samples no more; empty while it does
    PmOutput output;           // for the writer
    std::int64_t dropped = 0;  // samples for which `output` had no room
    OptionalNs drop_from, drop_to;
  };

  void decode_loop();
  void hand_over(Device& device, PmOutput& output);  // under mutex_
  std::size_t write(RowSink& sink, const Device& device, PmOutput& output) const;

  const std::int64_t process_id_;
  const PmOptions options_;
  std::unique_ptr<CuptiProfilerUse> use_;
  std::vector<Device> devices_;
  Json refused_ = Json::array();

  mutable std::mutex mutex_;          // of the devices' failures and output, and of stop_
  mutable std::mutex sampler_mutex_;  // of the samplers, which call CUPTI
  std::condition_variable wake_;
  std::thread thread_;
  bool stop_ = false;
};

}  // namespace warpmeter
