// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "collectors/collector.h"
#include "collectors/nvml_sampler.h"
#include "collectors/record_pool.h"

namespace warpmeter {

struct NvmlOptions {
  std::chrono::milliseconds interval{100};
  bool gpm = true;  // also the counters that NVML samples itself
};

// Clocks, power, temperatures and links of each device of the target, sampled by a thread while it
// is armed. Devices are found by UUID, because NVML does not know CUDA_VISIBLE_DEVICES. Needs no
// privilege.
class NvmlCollector : public Collector {
 public:
  // Throws InputError if there is no NVML, or if it knows none of the devices; those that it does
  // not know are described. `target` outlives it.
  explicit NvmlCollector(const Target& target, NvmlOptions options = {});
  ~NvmlCollector() override { disarm(); }
  NvmlCollector(const NvmlCollector&) = delete;
  NvmlCollector& operator=(const NvmlCollector&) = delete;

  std::string_view name() const override { return "nvml"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;

  // {interval (s), samples, late, busy (share of the time that the thread read), devices: [{uuid,
  // whole_gpu_of_mig, gpm, clock_sm: {low, high, changes} (Hz), clock_memory, clock_reasons: {name:
  // samples}, lost, not_read: {quantity: reason}}], not_known: [reason]}.
  Json describe() const override;

 private:
  struct Clock {
    double low = 0, high = 0, last = 0;
    std::uint64_t readings = 0, changes = 0;
    void add(double value);
  };
  struct Device {
    Device(std::size_t number, NvmlSampler its_sampler)
        : index(number), sampler(std::move(its_sampler)) {}

    std::size_t index;    // in the target
    NvmlSampler sampler;  // of the thread
    // With mutex_:
    Clock sm, memory;
    std::map<std::string, std::uint64_t> reasons;
    std::map<std::string, std::string> not_read;
    bool lost = false;
    std::vector<NvmlFailure> failures;
  };

  void run();
  void sample_all(RecordPool<NvmlReading>::Producer& producer);
  void note(Device& device, const std::vector<NvmlReading>& readings);
  std::size_t drain_losses(RowSink& sink);
  Json describe(const Device& device) const;

  const Target& target_;
  const NvmlOptions options_;
  std::vector<Device> devices_;
  std::vector<std::string> not_known_;
  RecordPool<NvmlReading> pool_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::uint64_t samples_ = 0, late_ = 0;
  double busy_s_ = 0, armed_s_ = 0;
  std::thread thread_;
};

}  // namespace warpmeter
