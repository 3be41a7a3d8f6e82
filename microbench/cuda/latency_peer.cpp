// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/chase_case.h"
#include "microbench/cuda/peers.h"
#include "microbench/cuda/rows.h"

namespace warpmeter {
namespace {

// Fits the L2 of every GPU since Ampere at its owner, so that the far memory adds no misses of its
// own; larger than what the reader's L1 could hold (and cg passes that by).
constexpr std::size_t footprint = 4u << 20;
constexpr std::uint64_t seed = 20261201;

class PeerChaseCase : public ChaseCase {
 public:
  PeerChaseCase(const Pair& pair, ChasePlan plan)
      : ChaseCase(pair.from, std::move(plan)), pair_(pair) {}

  Json conditions() const override {
    Json result = ChaseCase::conditions();
    result["peer"] = peer_conditions(pair_);
    return result;
  }

 private:
  Pair pair_;
};

std::unique_ptr<Case> make(const Device&, const Parameters& parameters) {
  const Pair pair = find_pair(parameters);
  enable_peer_access(pair);
  ChasePlan plan;
  plan.ring = random_ring(footprint, seed);
  plan.path = LoadPath::cg;
  plan.memory_of = pair.to.ordinal;
  plan.conditions = {{"footprint", footprint}, {"stride", chase_stride}, {"seed", seed}};
  return std::make_unique<PeerChaseCase>(pair, std::move(plan));
}

}  // namespace

Benchmark latency_peer_row() {
  Benchmark row;
  row.id = row.quantity = "latency.peer";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "One thread of \"from\" follows a random single cycle over 4 MiB, one node in every 64 B, in "
      "the "
      "memory of "
      "\"to\", one ld.global.cg per hop; %globaltimer around the loop over its hops.";
  row.points = [](const Device& device, Effort) { return peer_pairs(device); };
  row.unsupported = [](const Device&, const Parameters& parameters) {
    return no_peer_access(parameters);
  };
  row.make = make;
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace warpmeter
