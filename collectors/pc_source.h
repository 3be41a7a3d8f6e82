// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/cupti_api.h"

namespace warpmeter {

// Samples of one instruction with one stall reason.
struct PcCount {
  std::uint64_t cubin_crc, offset;  // of the module (cuptiGetCubinCrc); in the function, in bytes
  std::string_view function;        // mangled name
  std::string_view reason;          // "long_scoreboard", "long_scoreboard_not_issued", ...
  std::uint64_t samples;
};

struct PcSourceOptions {
  std::optional<std::uint32_t> period;  // a sample every 2^period cycles, 5 to 31
  bool windows = false;                 // start() and stop() bound the sampling
  std::size_t pcs = 4096;               // instructions that one call of CUPTI hands over
};

// What was lost between two calls.
struct PcLosses {
  std::uint64_t dropped = 0;   // samples that the hardware dropped
  std::uint64_t not_user = 0;  // samples of kernels that CUPTI gives no records of
  std::uint64_t full = 0;      // times that the hardware buffer was full: its content is lost
  std::uint64_t unread = 0;    // instructions that CUPTI still has
};

// CUPTI's PC sampling of one context, continuous: kernels are not serialised. One thread at a time.
class PcSource {
 public:
  // Throws InputError if CUPTI refuses. The period is left as it is where `major`, the compute
  // capability, is 10 or more: to set it, or the size of the hardware buffer, is reported to stop
  // the sampling there without an error (docs/range_counters.md).
  PcSource(const CuptiApi& api, CUcontext context, int major, const PcSourceOptions& options);
  ~PcSource();
  PcSource(const PcSource&) = delete;
  PcSource& operator=(const PcSource&) = delete;

  void start();  // Both throw InputError.
  void stop();

  // Hands over what CUPTI has; what is more than `rounds` calls can take comes with the next fetch.
  // Throws InputError.
  PcLosses fetch(const std::function<void(const PcCount&)>& take, int rounds = 64);

  // Ends the sampling and hands over the rest; what is then unread is lost. Throws InputError.
  PcLosses close(const std::function<void(const PcCount&)>& take);

 private:
  struct Buffer {
    Buffer(std::size_t pcs, std::size_t reasons);
    std::vector<CUpti_PCSamplingStallReason> reasons;
    std::vector<CUpti_PCSamplingPCData> pcs;
    CUpti_PCSamplingData data{};
  };

  CUptiResult disable();
  void read_reasons();
  void configure(int major, const PcSourceOptions& options);
  void take_buffer(const CUpti_PCSamplingData& data,
                   const std::function<void(const PcCount&)>& take, PcLosses& losses) const;

  const CuptiApi& api_;
  CUcontext context_;
  bool enabled_ = false;
  std::vector<std::uint32_t> indexes_;
  std::vector<std::string> names_;          // by stall reason index
  std::unique_ptr<Buffer> last_, current_;  // of close(), which CUPTI keeps; of fetch()
};

// The device's name of a reason without what all have in common:
// "smsp__pcsamp_warps_issue_stalled_wait" is "wait".
std::string_view stall_reason(std::string_view name);

}  // namespace warpmeter
