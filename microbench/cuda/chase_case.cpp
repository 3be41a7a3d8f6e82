// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/chase_case.h"

#include <algorithm>
#include <random>

#include "core/stats.h"
#include "cuda/check.h"
#include "kernels/micro/fill.h"
#include "microbench/cuda/cycle.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr std::uint64_t seed = 20261201;
constexpr std::uint32_t page_lines = (2u << 20) / chase_stride;     // CUDA maps 2 MiB pages
constexpr std::uint32_t most_l1_lines = (1u << 20) / chase_stride;  // four times the largest L1
constexpr int blocks_per_sm = 8;  // so that one surely lands on the SM asked for
constexpr int verified_trips = 64;

}  // namespace

ChaseCase::ChaseCase(const Device& device, const ChasePlan& plan) : session_(device), plan_(plan) {
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
  const double floor_s = std::max(2e-3, 1000 * resolution_s_);
  trips_ = scale_count(floor_s, verified_trips,
                       [&](std::uint32_t trips) { return hop(trips).clock.seconds; });
  cycles_per_hop_.clear();
  event_per_hop_s_.clear();
}

void ChaseCase::link_lines() {
  const auto lines = static_cast<std::uint32_t>(plan_.footprint / chase_stride);
  next_ =
      plan_.order == "paged" ? grouped_cycle(lines, page_lines, seed) : random_cycle(lines, seed);
  const DeviceBuffer next = session_.upload(next_);
  const DeviceGuard owner(plan_.memory_of);
  const Stream stream = make_stream();
  lines_ = DeviceBuffer(std::size_t{lines} * chase_stride);
  launch_fill({lines_.as<std::uint32_t>(), lines_.bytes() / 4, 1}, stream.get());
  // The successors are copied first, because a peer may not read this device's memory.
  DeviceBuffer copy(next.bytes());
  GPU_CHECK(cudaMemcpyPeerAsync(copy.as<void>(), plan_.memory_of, next.as<void>(),
                                session_.ordinal(), next.bytes(), stream.get()));
  launch_link({lines_.as<char>(), copy.as<std::uint32_t>(), lines, chase_stride}, stream.get());
  GPU_CHECK(cudaStreamSynchronize(stream.get()));
}

void ChaseCase::warm() {
  if (plan_.memory_of == session_.ordinal() && beyond_l2(session_.device(), plan_.footprint)) {
    flush_.emplace(session_.l2_bytes(), session_.sm_count());
    return;
  }
  // Once round the ring, so that the caches hold what a chase of any length would leave there.
  hop(static_cast<std::uint32_t>(next_.size() / chase_unroll + 1));
}

std::optional<ChaseCase::Hops> ChaseCase::try_hops(std::uint32_t trips, int sm) {
  GPU_CHECK(cudaMemsetAsync(claim_.as<void>(), 0, claim_.bytes(), session_.stream()));
  if (flush_) flush_->enqueue(session_.stream());
  const bool fits_l1 = plan_.path == LoadPath::ca && next_.size() <= most_l1_lines;
  const char* base = lines_.as<char>();
  const std::uint32_t warm_hops = fits_l1 ? static_cast<std::uint32_t>(next_.size()) : 0;
  const int blocks = sm < 0 ? 1 : blocks_per_sm * session_.sm_count();
  const auto timed = session_.time(1, [&](cudaStream_t stream, Stamp* stamp) {
    ChaseArgs args;
    args.start = base + std::size_t{at_} * chase_stride;
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
  at_ = walk(next_, at_, hops);
  require_correct(finish == base + std::size_t{at_} * chase_stride,
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
  if (!hops) throw std::runtime_error("no block of the chase ran");
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
  result["footprint"] = plan_.footprint;
  result["order"] = plan_.order;
  result["stride"] = chase_stride;
  result["hops"] = static_cast<double>(chase_unroll) * trips_;
  result["residency"] = flush_ ? "cold-clean: L2 flushed by reads before each sample"
                               : "hot: the whole ring was chased before";
  result["timer_resolution_s"] = resolution_s_;
  result["samples_on_any_sm"] = missed_;
  result["seed"] = seed;
  if (const auto cycles = median(cycles_per_hop_)) result["cycles_per_hop"] = *cycles;
  if (const auto event_s = median(event_per_hop_s_)) result["event_s_per_hop"] = *event_s;
  return result;
}

}  // namespace warpmeter
