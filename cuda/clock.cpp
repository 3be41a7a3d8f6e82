// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "core/stats.h"
#include "cuda/check.h"
#include "cuda/handles.h"
#include "cuda/instruments.h"

namespace warpmeter {
namespace {

std::vector<Stamp> run_busy(cudaStream_t stream, int blocks, int threads, std::uint64_t cycles) {
  DeviceBuffer memory(static_cast<std::size_t>(blocks) * sizeof(Stamp));
  launch_busy({memory.as<Stamp>(), cycles}, blocks, threads, stream);
  std::vector<Stamp> stamps(static_cast<std::size_t>(blocks));
  GPU_CHECK(cudaMemcpyAsync(stamps.data(), memory.as<void>(), memory.bytes(),
                            cudaMemcpyDeviceToHost, stream));
  GPU_CHECK(cudaStreamSynchronize(stream));
  return stamps;
}

}  // namespace

std::optional<ClockReading> read_stamps(std::span<const Stamp> stamps) {
  // Of each SM, its longest block: the timer's resolution matters least there.
  std::map<int, double> longest_s;
  std::map<int, double> hz;
  std::set<int> sms;
  std::vector<double> cycles;
  std::vector<double> seconds;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (const Stamp& stamp : stamps) {
    if (stamp.written == 0) continue;
    const int sm = static_cast<int>(stamp.sm);
    const double elapsed_s = 1e-9 * static_cast<double>(stamp.time_end_ns - stamp.time_begin_ns);
    const double elapsed_cycles = static_cast<double>(stamp.clock_end - stamp.clock_begin);
    sms.insert(sm);
    cycles.push_back(elapsed_cycles);
    seconds.push_back(elapsed_s);
    first = std::min(first, stamp.time_begin_ns);
    last = std::max(last, stamp.time_end_ns);
    if (elapsed_s > longest_s[sm]) {
      longest_s[sm] = elapsed_s;
      hz[sm] = elapsed_cycles / elapsed_s;
    }
  }
  if (hz.empty()) return std::nullopt;
  std::vector<double> clocks;
  for (const auto& [sm, value] : hz) clocks.push_back(value);
  const auto summary = summarize(clocks);
  ClockReading reading;
  reading.hz = summary->median;
  reading.lowest_hz = summary->min;
  reading.highest_hz = summary->max;
  reading.cycles = *median(cycles);
  reading.seconds = *median(seconds);
  reading.span_s = 1e-9 * static_cast<double>(last - first);
  reading.sms.assign(sms.begin(), sms.end());
  return reading;
}

double timer_resolution_s(cudaStream_t stream) {
  DeviceBuffer smallest(sizeof(std::uint64_t));
  launch_timer_step({smallest.as<std::uint64_t>(), 64}, stream);
  std::uint64_t step_ns = 0;
  GPU_CHECK(cudaMemcpyAsync(&step_ns, smallest.as<void>(), sizeof step_ns, cudaMemcpyDeviceToHost,
                            stream));
  GPU_CHECK(cudaStreamSynchronize(stream));
  return 1e-9 * static_cast<double>(step_ns);
}

Settling settle_clock(cudaStream_t stream, int sm_count, const Pace& pace) {
  constexpr std::size_t window = 5;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Settling result;
  std::vector<double> readings;
  while (!result.settled && result.seconds < pace.settle_s) {
    const auto reading = read_stamps(run_busy(stream, sm_count, 32, pace.probe_cycles));
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!reading) break;
    readings.push_back(reading->hz);
    result.hz = reading->hz;
    if (readings.size() < window) continue;
    const auto [low, high] = std::minmax_element(readings.end() - window, readings.end());
    result.settled = *high - *low < 0.005 * *high;
  }
  return result;
}

std::vector<int> visible_sms(cudaStream_t stream, int sm_count) {
  // Long enough that all blocks are resident at once: 4 blocks of 32 threads fit on any SM.
  const auto reading = read_stamps(run_busy(stream, 4 * sm_count, 32, 200'000));
  return reading ? reading->sms : std::vector<int>{};
}

}  // namespace warpmeter
