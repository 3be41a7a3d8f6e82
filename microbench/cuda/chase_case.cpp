// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/chase_case.h"

#include <algorithm>
#include <random>
#include <utility>

#include "core/stats.h"
#include "cuda/check.h"
#include "kernels/micro/fill.h"
#include "microbench/cuda/cycle.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr std::uint64_t seed = 20261201;      // of the order of the SMs
constexpr std::size_t most_l1_nodes = 16384;  // more than the lines of any L1
constexpr int blocks_per_sm = 8;              // so that one surely lands on the SM asked for
constexpr int verified_trips = 64;

}  // namespace

ChaseCase::ChaseCase(const Device& device, ChasePlan plan)
    : session_(device), plan_(std::move(plan)) {
  const DeviceGuard guard(device.ordinal);
  link_lines();
  claim_ = DeviceBuffer(sizeof(std::uint32_t));
  finish_ = DeviceBuffer(sizeof(char*));
  GPU_CHECK(cudaFuncSetAttribute(chase_kernel(plan_.path),
                                 cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxL1));
  sms_ = visible_sms(session_.stream(), session_.sm_count());
  std::shuffle(sms_.begin(), sms_.end(), std::mt19937_64(seed));
  resolution_s_ = timer_resolution_s(session_.stream());
  hop(verified_trips);
  warm();
  const double floor_s = std::max(session_.pace().sample_s, 1000 * resolution_s_);
  trips_ = scale_count(floor_s, verified_trips,
                       [&](std::uint32_t trips) { return hop(trips).clock.seconds; });
  cycles_per_hop_.clear();
  event_per_hop_s_.clear();
}

void ChaseCase::link_lines() {
  const Ring& ring = plan_.ring;
  std::vector<std::uint32_t> places = ring.offset;  // first from, then to
  for (const std::uint32_t next : ring.next) places.push_back(ring.offset[next]);
  const DeviceBuffer links = session_.upload(places);
  const DeviceGuard owner(plan_.memory_of);
  const Stream stream = make_stream();
  lines_ = DeviceBuffer(ring.bytes);
  launch_fill({lines_.as<std::uint32_t>(), lines_.bytes() / 4, 1}, stream.get());
  // The places are copied first, because a peer may not read this device's memory.
  DeviceBuffer copy(links.bytes());
  GPU_CHECK(cudaMemcpyPeerAsync(copy.as<void>(), plan_.memory_of, links.as<void>(),
                                session_.ordinal(), links.bytes(), stream.get()));
  const auto* from = copy.as<std::uint32_t>();
  launch_link({lines_.as<char>(), from, from + ring.size(), ring.size()}, stream.get());
  GPU_CHECK(cudaStreamSynchronize(stream.get()));
}

void ChaseCase::warm() {
  if (plan_.cold) {
    flush_.emplace(session_.l2_bytes(), session_.sm_count());
    return;
  }
  // Once round the ring, so that the caches hold what a chase of any length would leave there.
  // Few hops are shorter than a step of the timer (1 us on some parts).
  hop(std::max<std::uint32_t>(verified_trips,
                              static_cast<std::uint32_t>(plan_.ring.size() / chase_unroll + 1)));
}

std::optional<ChaseCase::Hops> ChaseCase::try_hops(std::uint32_t trips, int sm) {
  GPU_CHECK(cudaMemsetAsync(claim_.as<void>(), 0, claim_.bytes(), session_.stream()));
  if (flush_) flush_->enqueue(session_.stream());
  const bool fits_l1 = plan_.path == LoadPath::ca && plan_.ring.size() <= most_l1_nodes;
  const auto node = [&] { return lines_.as<char>() + plan_.ring.offset[at_] * link_unit; };
  const std::uint32_t warm_hops = fits_l1 ? static_cast<std::uint32_t>(plan_.ring.size()) : 0;
  const int blocks = sm < 0 ? 1 : blocks_per_sm * session_.sm_count();
  const auto timed = session_.time(1, [&](cudaStream_t stream, Stamp* stamp) {
    ChaseArgs args;
    args.start = node();
    args.finish = finish_.as<const char*>();
    args.stamp = stamp;
    args.claim = claim_.as<std::uint32_t>();
    args.sm = sm;
    args.warm_hops = warm_hops;
    args.trips = trips;
    launch_chase(args, plan_.path, blocks, stream);
  });
  if (!timed.clock) return std::nullopt;
  const char* finish = session_.download<const char*>(finish_, 1)[0];
  const std::uint64_t hops = std::uint64_t{trips} * chase_unroll + warm_hops;
  at_ = walk(plan_.ring.next, at_, hops);
  require_correct(finish == node(),
                  "the chase did not end where the host's walk over the same ring ends");
  return Hops{*timed.clock, timed.event_s};
}

ChaseCase::Hops ChaseCase::hop(std::uint32_t trips) {
  const DeviceGuard guard(session_.ordinal());
  const int sm = sms_.empty() ? -1 : sms_[turn_++ % sms_.size()];
  auto hops = try_hops(trips, sm);
  if (!hops) {
    ++missed_;
    hops = try_hops(trips, -1);
  }
  if (!hops)
    throw std::runtime_error("no block of the chase ran, or it took less than a step of the timer");
  return *hops;
}

Sample ChaseCase::sample() {
  const Hops hops = hop(trips_);
  const double count = static_cast<double>(chase_unroll) * trips_;
  session_.record(hops.clock);
  cycles_per_hop_.push_back(hops.clock.cycles / count);
  event_per_hop_s_.push_back(hops.event_s / count);
  return {hops.clock.seconds / count, hops.clock.seconds};
}

Json ChaseCase::conditions() const {
  Json result = session_.conditions();
  result["nodes"] = plan_.ring.size();
  result["hops"] = static_cast<double>(chase_unroll) * trips_;
  result["residency"] = flush_ ? "cold-clean: L2 flushed by reads before each sample"
                               : "hot: the whole ring was chased before";
  result["timer_resolution_s"] = resolution_s_;
  result["samples_on_any_sm"] = missed_;
  result.update(plan_.conditions);
  if (const auto cycles = median(cycles_per_hop_)) result["cycles_per_hop"] = *cycles;
  if (const auto event_s = median(event_per_hop_s_)) result["event_s_per_hop"] = *event_s;
  return result;
}

}  // namespace warpmeter
