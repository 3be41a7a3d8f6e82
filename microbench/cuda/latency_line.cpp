// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "cuda/check.h"
#include "cuda/session.h"
#include "kernels/micro/chase.h"
#include "kernels/micro/fill.h"
#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr std::uint32_t lines = 32;         // all in one partition: once in 2^31
constexpr std::uint32_t line_stride = 256;  // B; no line is longer
constexpr int blocks_per_sm = 8;            // so that one surely lands on the SM asked for

// Lines that each hold their own address, chased one by one from one SM.
class LineCase : public Case {
 public:
  LineCase(const Device& device, bool farthest);
  Sample sample() override;
  Json conditions() const override;

 private:
  double hop_s(std::uint32_t line, std::uint32_t trips);

  Session session_;
  bool farthest_;
  std::vector<int> sms_;
  std::size_t turn_ = 0;
  std::uint32_t trips_ = 0;
  DeviceBuffer memory_;
  DeviceBuffer claim_;
  DeviceBuffer finish_;
};

LineCase::LineCase(const Device& device, bool farthest) : session_(device), farthest_(farthest) {
  const DeviceGuard guard(device.ordinal);
  memory_ = DeviceBuffer(std::size_t{lines} * line_stride);
  claim_ = DeviceBuffer(sizeof(std::uint32_t));
  finish_ = DeviceBuffer(sizeof(char*));
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < lines; ++i) places.push_back(i * line_stride / link_unit);
  const DeviceBuffer links = session_.upload(places);
  const auto* place = links.as<std::uint32_t>();
  launch_link({memory_.as<char>(), place, place, lines}, session_.stream());
  sms_ = visible_sms(session_.stream(), session_.sm_count());
  if (sms_.empty()) throw std::runtime_error("no SM was seen");
  const double floor_s =
      std::max(session_.pace().sample_s / 8, 1000 * timer_resolution_s(session_.stream()));
  trips_ = scale_count(floor_s, 64,
                       [&](std::uint32_t trips) { return hop_s(0, trips) * chase_unroll * trips; });
}

double LineCase::hop_s(std::uint32_t line, std::uint32_t trips) {
  GPU_CHECK(cudaMemsetAsync(claim_.as<void>(), 0, claim_.bytes(), session_.stream()));
  const char* start = memory_.as<char>() + std::size_t{line} * line_stride;
  const auto timed = session_.time(1, [&](cudaStream_t stream, Stamp* stamp) {
    ChaseArgs args;
    args.start = start;
    args.finish = finish_.as<const char*>();
    args.stamp = stamp;
    args.claim = claim_.as<std::uint32_t>();
    args.sm = sms_[turn_ % sms_.size()];
    args.warm_hops = 1;
    args.trips = trips;
    launch_chase(args, LoadPath::cg, blocks_per_sm * session_.sm_count(), stream);
  });
  if (!timed.clock) throw std::runtime_error("no block of the chase ran on the SM asked for");
  require_correct(session_.download<const char*>(finish_, 1)[0] == start,
                  "the chase left a line that holds its own address");
  session_.record(*timed.clock);
  return timed.clock->seconds / (static_cast<double>(chase_unroll) * trips);
}

Sample LineCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  std::vector<double> seconds;
  for (std::uint32_t line = 0; line < lines; ++line) seconds.push_back(hop_s(line, trips_));
  ++turn_;
  const auto [nearest, farthest] = std::minmax_element(seconds.begin(), seconds.end());
  return {farthest_ ? *farthest : *nearest, *nearest * chase_unroll * trips_};
}

Json LineCase::conditions() const {
  Json result = session_.conditions();
  result["lines"] = lines;
  result["hops"] = static_cast<double>(chase_unroll) * trips_;
  result["residency"] = "hot: one line at a time";
  return result;
}

}  // namespace

Benchmark latency_line_row() {
  Benchmark row;
  row.id = row.quantity = "latency.line";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "One thread reads one line in L2 again and again (ld.global.cg, each address the result of "
      "the last load), for each of 32 lines 256 B apart from the same SM; the nearest or the "
      "farthest of them. Each sample from another SM.";
  row.points = [](const Device&, Effort) {
    return std::vector<Parameters>{{{"line", "nearest"}}, {{"line", "farthest"}}};
  };
  row.unsupported = [](const Device&, const Parameters&) { return std::nullopt; };
  row.make = [](const Device& device, const Parameters& parameters) -> std::unique_ptr<Case> {
    return std::make_unique<LineCase>(device, word(parameters, "line") == "farthest");
  };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace warpmeter
