// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/cupti_api.h"

namespace warpmeter {

// A CUPTI whose PM sampler delivers what a test puts into it. One at a time.
class FakePm {
 public:
  struct Sample {
    std::uint64_t start, end;  // CUPTI's clock
    double value;              // of the first counter; counter i gives (i + 1) times it
  };
  struct Device {
    std::deque<Sample> hardware;  // not yet decoded
    bool enabled = false, started = false, overflow = false;
    CUptiResult decode_result = CUPTI_SUCCESS;
    CUptiResult enable_result = CUPTI_SUCCESS, availability_result = CUPTI_SUCCESS;
    std::vector<std::uint64_t> intervals;  // of every SetConfig
    CUpti_PmSampling_SetConfig_Params config{};
    std::vector<std::string> names;  // in the configuration image
    int disabled = 0;
  };

  FakePm();
  ~FakePm();

  const CuptiApi& api() const { return api_; }
  Target target(int count, const std::string& chip = "GH100") const;
  Device& device(std::size_t i) { return devices_[i]; }

  // `count` samples of `width` ns that begin now; each has the value of its number, from 0.
  void produce(std::size_t device, int count, std::uint64_t width);

  std::mutex mutex;                       // of the devices, while a collector is armed
  std::map<std::string, double> weights;  // part of a pass of a counter; others are not known
  std::int64_t skew = 0;                  // CUPTI's clock minus the host's
  int initialized = 0;
  std::atomic<int> initializations = 0, deinitializations = 0, hosts = 0, rejected_decodes = 0;

 private:
  CuptiApi api_;
  std::deque<Device> devices_;
};

}  // namespace warpmeter
