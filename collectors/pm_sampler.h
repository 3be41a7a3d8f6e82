// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/pm_clock.h"
#include "collectors/pm_plan.h"

namespace warpmeter {

struct PmOptions {
  std::string set = "diagnose";  // of the catalogue
  // docs/pm_sampling.md says why 100 us. Chips that trigger by their system clock (GA100, Turing)
  // take it as as many cycles; the samples' own times say what came of it.
  std::int64_t interval_ns = 100000;
  std::int64_t longest_interval_ns = 10000000;  // overflow doubles the interval up to this
  bool keep_latest = false;  // overwrite the oldest when the hardware buffer is full
  std::size_t hardware_buffer_bytes = std::size_t{64} << 20;
  std::uint32_t samples_per_decode = 512;  // about 18 KiB each
  std::int64_t decode_period_ms = 10;
  bool virtual_time = false;          // on the emulated GPU (pm_clock.h)
  std::size_t most_queued = 1 << 18;  // values between the decode and the writer's thread
};

// One sample of one device, on CLOCK_MONOTONIC, in CUPTI's units; not finite: not counted.
struct PmSample {
  std::int64_t start_ns = 0, end_ns = 0;
  bool follows_gap = false;  // what was before its start was not sampled
  std::vector<double> values;
};

struct PmLoss {
  std::string what, reason;
  std::optional<std::int64_t> count;
  OptionalNs from_ns, to_ns;
};

// CUPTI's raw data; `kind` as in docs/profile_schema.md.
struct PmImage {
  const char* kind;
  std::vector<std::uint8_t> data;
};

struct PmOutput {
  std::vector<PmSample> samples;
  std::vector<PmLoss> losses;
  std::vector<PmImage> images;
};

// The PM sampler of one device. One thread at a time.
class PmSampler {
 public:
  // Plans. Throws InputError: the device or chip cannot be sampled, or this user may not.
  PmSampler(const CuptiApi& api, const TargetDevice& device, std::size_t ordinal,
            const Catalogue& catalogue, const PmOptions& options);
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  void start();                // Throws InputError; nothing is left enabled then.
  void decode(PmOutput& out);  // At most 64 images. Throws InputError.
  // Decodes what is left and lets go of the device. What fails on the way is a loss.
  void stop(PmOutput& out) noexcept;

  bool running() const { return object_ != nullptr; }
  const PmPlan& plan() const { return plan_; }
  std::int64_t interval_ns() const { return interval_; }
  Json describe() const;

 private:
  void enable();
  void disable() noexcept;
  void initialize_image();
  // Whether CUPTI has more. Sets `overflow`.
  bool decode_image(PmOutput& out, bool& overflow);
  void take(std::size_t completed, PmOutput& out);
  void restart_slower(PmOutput& out);

  const CuptiApi& api_;
  const std::string chip_;
  const std::size_t ordinal_;
  const PmOptions options_;
  const bool by_time_;  // else by cycles of the system clock
  std::vector<std::uint8_t> availability_;
  PmPlan plan_;
  std::vector<std::string> names_;
  std::unique_ptr<HostSession> host_;
  PmClock clock_;
  CUpti_PmSampling_Object* object_ = nullptr;
  std::vector<std::uint8_t> image_;   // that is filled next
  std::vector<std::uint8_t> filled_;  // the last one with samples
  std::int64_t interval_, started_ = 0, overflows_ = 0, samples_ = 0;
  std::uint64_t last_end_ = 0;  // CUPTI's clock
  int last_images_ = 0;
  bool first_ = true, gap_ = true, kept_first_image_ = false, kept_config_ = false;
};

}  // namespace warpmeter
