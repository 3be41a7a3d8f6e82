// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <vector>

#include "core/device.h"
#include "core/json.h"
#include "cuda/bracket.h"
#include "cuda/clock.h"
#include "cuda/handles.h"
#include "cuda/pace.h"

namespace warpmeter {

// What every case needs of its device: a stream, the timing bracket, normal L2 residency, a clock
// out of idle, and a record of the clocks seen while sampling. Members work on the device whatever
// is current.
class Session {
 public:
  explicit Session(const Device& device);

  const Device& device() const { return device_; }
  int ordinal() const { return device_.ordinal; }
  int sm_count() const { return sm_count_; }
  const Pace& pace() const { return pace_; }
  std::size_t l2_bytes() const { return l2_bytes_; }
  cudaStream_t stream() const { return stream_.get(); }
  Bracket& bracket() { return *bracket_; }

  // Memory of this device, whatever is current.
  DeviceBuffer allocate(std::size_t bytes) const;

  // Times `enqueue` (bracket.h) with fresh stamps for `blocks` blocks.
  struct Timed {
    double event_s = 0;
    std::optional<ClockReading> clock;  // null if no block stamped itself
  };
  using Enqueue = std::function<void(cudaStream_t, Stamp*)>;
  // Throws CudaError if a launch or the work failed.
  Timed time(int blocks, const Enqueue& enqueue);

  // Runs `enqueue` outside the bracket and waits.
  void run(int blocks, const Enqueue& enqueue);

  // Keeps a sample's clock for conditions().
  void record(const ClockReading& clock);

  // {clock_hz, clock_lowest_hz, clock_highest_hz, sms, settling, state_before, state_after}.
  Json conditions() const;

  template <typename T>
  std::vector<T> download(const DeviceBuffer& buffer, std::size_t count) const {
    std::vector<T> values(count);
    download_bytes(values.data(), buffer.as<void>(), count * sizeof(T));
    return values;
  }
  template <typename T>
  DeviceBuffer upload(const std::vector<T>& values) const {
    return upload_bytes(values.data(), values.size() * sizeof(T));
  }

 private:
  void download_bytes(void* to, const void* from, std::size_t bytes) const;
  DeviceBuffer upload_bytes(const void* from, std::size_t bytes) const;

  Device device_;
  Pace pace_;
  int sm_count_;
  std::size_t l2_bytes_;
  Stream stream_;
  std::optional<Bracket> bracket_;
  DeviceBuffer stamps_;
  Settling settling_;
  Json state_before_;
  std::vector<double> clocks_hz_;
  double lowest_hz_ = 0;
  double highest_hz_ = 0;
  std::vector<int> sms_;
};

// Throws std::runtime_error "corrupt: ..." unless `right`.
void require_correct(bool right, const std::string& what);

}  // namespace warpmeter
