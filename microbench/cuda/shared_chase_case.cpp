// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/shared_chase_case.h"

#include "core/stats.h"
#include "kernels/micro/chase_shared.h"
#include "microbench/cuda/cycle.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {

SharedChaseCase::SharedChaseCase(const Device& device, double footprint) : session_(device) {
  const DeviceGuard guard(device.ordinal);
  const auto lines = static_cast<std::uint32_t>(footprint / chase_shared_stride);
  next_ = random_cycle(lines, 20261201);
  successors_ = session_.upload(next_);
  finish_ = DeviceBuffer(sizeof(std::uint32_t));
  prepare_chase_shared(static_cast<int>(lines) * chase_shared_stride);
  session_.run(1, [&](cudaStream_t stream, Stamp* stamp) {
    launch_chase_shared(
        {successors_.as<std::uint32_t>(), lines, 1, finish_.as<std::uint32_t>(), stamp}, stream);
  });
  trips_ = scale_count(session_.pace().sample_s, 64,
                       [&](std::uint32_t trips) { return hop(trips).clock->seconds; });
}

Session::Timed SharedChaseCase::hop(std::uint32_t trips) {
  const auto timed = session_.time(1, [&](cudaStream_t stream, Stamp* stamp) {
    launch_chase_shared({successors_.as<std::uint32_t>(), static_cast<std::uint32_t>(next_.size()),
                         trips, finish_.as<std::uint32_t>(), stamp},
                        stream);
  });
  require_correct(
      timed.clock && session_.download<std::uint32_t>(finish_, 1)[0] ==
                         walk(next_, 0, std::uint64_t{trips} * chase_shared_unroll),
      "the shared-memory chase did not end where the host's walk over the same ring ends");
  return timed;
}

Sample SharedChaseCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  const auto timed = hop(trips_);
  const double count = static_cast<double>(chase_shared_unroll) * trips_;
  session_.record(*timed.clock);
  cycles_per_hop_.push_back(timed.clock->cycles / count);
  return {timed.clock->seconds / count, timed.clock->seconds};
}

Json SharedChaseCase::conditions() const {
  Json result = session_.conditions();
  result["stride"] = chase_shared_stride;
  result["hops"] = static_cast<double>(chase_shared_unroll) * trips_;
  if (const auto cycles = median(cycles_per_hop_)) result["cycles_per_hop"] = *cycles;
  return result;
}

}  // namespace warpmeter
