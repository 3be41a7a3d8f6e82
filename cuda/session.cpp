// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/session.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "core/error.h"
#include "core/stats.h"
#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/residency.h"

namespace warpmeter {
namespace {

double known(const Device& device, const char* fact) {
  const auto value = fact_number(device.facts, fact);
  if (!value || *value <= 0) throw UnsupportedError(std::string(fact) + " is not known");
  return *value;
}

}  // namespace

Session::Session(const Device& device)
    : device_(device),
      pace_(pace_of(device)),
      sm_count_(static_cast<int>(known(device, "sm.count"))),
      l2_bytes_(static_cast<std::size_t>(known(device, "cache.l2.size"))) {
  const DeviceGuard guard(ordinal());
  stream_ = make_stream();
  bracket_.emplace();
  reset_residency(stream());
  state_before_ = device_state(device_);
  settling_ = settle_clock(stream(), sm_count_, pace_);
}

DeviceBuffer Session::allocate(std::size_t bytes) const {
  const DeviceGuard guard(ordinal());
  return DeviceBuffer(bytes);
}

Session::Timed Session::time(int blocks, const Enqueue& enqueue) {
  const DeviceGuard guard(ordinal());
  const std::size_t bytes = static_cast<std::size_t>(blocks) * sizeof(Stamp);
  if (stamps_.bytes() < bytes) stamps_ = DeviceBuffer(bytes);
  GPU_CHECK(cudaMemsetAsync(stamps_.as<void>(), 0, bytes, stream()));
  Timed timed;
  timed.event_s =
      bracket_->time(stream(), [&](cudaStream_t queue) { enqueue(queue, stamps_.as<Stamp>()); });
  timed.clock = read_stamps(download<Stamp>(stamps_, static_cast<std::size_t>(blocks)));
  return timed;
}

void Session::run(int blocks, const Enqueue& enqueue) {
  const DeviceGuard guard(ordinal());
  const std::size_t bytes = static_cast<std::size_t>(blocks) * sizeof(Stamp);
  if (stamps_.bytes() < bytes) stamps_ = DeviceBuffer(bytes);
  enqueue(stream(), stamps_.as<Stamp>());
  GPU_CHECK(cudaStreamSynchronize(stream()));
}

void Session::record(const ClockReading& clock) {
  clocks_hz_.push_back(clock.hz);
  lowest_hz_ = lowest_hz_ == 0 ? clock.lowest_hz : std::min(lowest_hz_, clock.lowest_hz);
  highest_hz_ = std::max(highest_hz_, clock.highest_hz);
  std::vector<int> all;
  std::set_union(sms_.begin(), sms_.end(), clock.sms.begin(), clock.sms.end(),
                 std::back_inserter(all));
  sms_ = std::move(all);
}

Json Session::conditions() const {
  Json result = Json::object();
  if (const auto clock = median(clocks_hz_)) {
    result["clock_hz"] = *clock;
    result["clock_lowest_hz"] = lowest_hz_;
    result["clock_highest_hz"] = highest_hz_;
    result["sms"] = sms_;
  }
  result["settling"] = {
      {"clock_hz", settling_.hz}, {"seconds", settling_.seconds}, {"settled", settling_.settled}};
  result["state_before"] = state_before_;
  result["state_after"] = device_state(device_);
  return result;
}

void Session::download_bytes(void* to, const void* from, std::size_t bytes) const {
  GPU_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()));
  GPU_CHECK(cudaStreamSynchronize(stream()));
}

DeviceBuffer Session::upload_bytes(const void* from, std::size_t bytes) const {
  DeviceBuffer buffer = allocate(bytes);
  GPU_CHECK(cudaMemcpyAsync(buffer.as<void>(), from, bytes, cudaMemcpyHostToDevice, stream()));
  GPU_CHECK(cudaStreamSynchronize(stream()));
  return buffer;
}

void require_correct(bool right, const std::string& what) {
  if (!right) throw std::runtime_error("corrupt: " + what);
}

}  // namespace warpmeter
