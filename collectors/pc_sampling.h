// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/pc_source.h"
#include "core/interval.h"

namespace warpmeter {

struct PcOptions {
  std::optional<std::uint32_t> period;   // PcSourceOptions
  std::int64_t fetch_ns = 10'000'000;    // how often CUPTI's buffer is emptied
  std::int64_t window_ns = 30'000'000;   // how long sampling is on at a time
  double share = 1;                      // of the time in which it is on; 1: always, no windows
  std::int64_t rows_ns = 5'000'000'000;  // between two sets of rows
};

// Where warps were, and why they waited: samples by function, instruction and stall reason, for all
// contexts that it is told of. Kernels are neither serialised nor replayed. Its thread fetches
// often, because a full hardware buffer loses everything.
class PcCollector : public Collector {
 public:
  // `now_ns`: CLOCK_MONOTONIC.
  PcCollector(const Target& target, PcOptions options, std::function<std::int64_t()> now_ns);
  ~PcCollector() override;

  std::string_view name() const override { return "pc"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;
  Json describe() const override;

  // From the callbacks of resources: a context of the device (index in Target.devices) is there; is
  // about to go; is about to lose a module, whose addresses may come back as others.
  void context_created(CUcontext context, std::size_t device) noexcept;
  void context_destroyed(CUcontext context) noexcept;
  void module_unloading(CUcontext context) noexcept;

  // One turn of the thread at time `now`: windows begin and end, data is fetched.
  void turn(std::int64_t now) noexcept;

 private:
  struct Key {
    std::size_t device;
    std::uint64_t cubin_crc, offset;
    std::size_t function, reason;  // in texts_
    auto operator<=>(const Key&) const = default;
  };
  struct ContextState {
    std::size_t device = 0;
    std::unique_ptr<PcSource> source;
    bool on = false;
  };

  void open(CUcontext context, ContextState& state);
  void close(ContextState& state);
  void fetch(ContextState& state);
  void switch_windows(bool on);
  std::function<void(const PcCount&)> taker(std::size_t device);
  void lose(std::size_t device, const PcLosses& losses);
  void fail(ContextState& state, const std::string& why);
  std::size_t text(std::string_view text);

  const Target& target_;
  const PcOptions options_;
  const std::function<std::int64_t()> now_ns_;

  mutable std::mutex sources_mutex_;  // CUPTI's calls; taken before mutex_
  std::map<CUcontext, ContextState> contexts_;
  bool armed_ = false, window_on_ = false;
  std::int64_t switched_ns_ = 0;

  mutable std::mutex mutex_;
  std::map<Key, std::uint64_t> counts_;
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t, std::less<>> text_ids_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> losses_;  // what, reason
  std::int64_t rows_at_ns_ = 0;
  bool last_rows_ = false;  // after disarm(): all that is there
  std::uint64_t samples_ = 0;

  std::condition_variable stop_;
  std::mutex thread_mutex_;
  bool running_ = false;
  std::thread thread_;
};

// Share of a function's samples with one stall reason.
struct StallShare {
  std::string_view reason;
  std::uint64_t samples = 0;
  double share = 0;  // unit 1
  Interval interval;
};

// Shares of one function's samples; `counts`: reasons with their samples, each once. Reasons that
// end in "_not_issued" are left out: by the name's meaning in Nsight Compute they repeat samples of
// the reason before the suffix. Intervals at default_level: Wilson's score (JASA 22, 1927, 209-212)
// of samples that are taken for independent; those of one warp that waits long are not, so that
// true intervals are wider. Empty without samples.
std::vector<StallShare> stall_shares(
    std::span<const std::pair<std::string_view, std::uint64_t>> counts);

}  // namespace warpmeter
