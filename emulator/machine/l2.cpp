// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the SMs share: slices of L2 in their partitions, and DRAM channels.
#include <algorithm>
#include <cmath>

#include "emulator/machine/memory.h"
#include "emulator/machine/memory_model.h"

namespace emulator {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 15;
  x *= 0x9e3779b97f4a7c15;
  return x ^ (x >> 29);
}

// One of `n` places: n neighbours have one each, in an order that changes, so that regular strides
// are spread too.
std::uint64_t spread(std::uint64_t x, std::uint64_t n) { return (x + mix(x / n)) % n; }

}  // namespace

MemoryModel::Home MemoryModel::home_of(std::uint32_t sm, std::uint64_t line) {
  const std::uint64_t slice = spread(line, slices_.size());
  const auto partitions = static_cast<std::uint64_t>(chip_.l2_partitions);
  const bool far = slice * partitions / slices_.size() != sm * partitions / sms_.size();
  return {line, &slices_[slice], &channels_[spread(line / 2, channels_.size())],
          far ? static_cast<double>(chip_.l2_far_latency) : 0, l2_.find(line)};
}

// Atomics to one sector are done one after the other: when the first of `lanes` begins.
double MemoryModel::after_atomics(std::uint64_t sector, double now, int lanes) {
  Busy& busy = busy_[mix(sector) % busy_.size()];
  if (busy.sector != sector) busy = {sector, 0};
  const double start = std::max(now, busy.free);
  busy.free = start + lanes * chip_.atomic_interval;
  return start;
}

// Returns when the sector's data is back at the SM. A sector that is on its way is found in the
// tags, and ready when it arrives: outstanding misses of one sector are merged.
double MemoryModel::l2(Sm& sm, Home& home, std::uint64_t sector, double now, Use use) {
  const double sent = sm.port.begin(now, port_cost_);
  double served = home.slice->begin(sent, slice_cost_);
  if (use.atomics > 0) {
    served = after_atomics(sector, served, use.atomics) + (use.atomics - 1) * chip_.atomic_interval;
  }
  const auto latency =
      static_cast<double>(use.atomics > 0 ? chip_.atomic_latency : chip_.l2_latency);
  const auto part = static_cast<unsigned>(sector - home.line * l2_sectors_);
  double done = served + latency;
  ++counters.l2_sectors;
  if (use.atomics > 0) {
    ++counters.l2_atomic_sectors;
  } else if (use.write) {
    ++counters.l2_write_sectors;
  }
  if (home.place != Cache::nowhere && l2_.holds(home.place, part)) {
    ++counters.l2_hits;
    if (use.write) l2_.make_dirty(home.place, part);
    done = std::max(done, static_cast<double>(l2_.ready(home.place, part)));
    return done + home.distance;
  }
  if (!use.write || use.atomics > 0) {
    counters.dram_read_bytes += static_cast<std::uint64_t>(chip_.l1_sector);
    const double begin = home.channel->begin(served, dram_cost_);
    done = begin + static_cast<double>(chip_.dram_latency);
  }
  if (home.place == Cache::nowhere) {
    const Cache::Put put = l2_.put(home.line);
    home.place = put.place;
    if (put.evicted_dirty_sectors > 0) {
      counters.dram_write_bytes +=
          static_cast<std::uint64_t>(put.evicted_dirty_sectors * chip_.l1_sector);
      const double begin = home.channel->begin(served, put.evicted_dirty_sectors * dram_cost_);
      // A store waits for the room that its line takes.
      if (use.write) done = std::max(done, begin + latency);
    }
  }
  if (home.place != Cache::nowhere) {
    l2_.fill(home.place, part, static_cast<std::uint64_t>(std::ceil(done)));
    if (use.write) l2_.make_dirty(home.place, part);
  }
  return done + home.distance;
}

// The engine takes one copy after the other; sectors leave it at its rate, behind its latency.
std::uint64_t MemoryModel::bulk(std::uint32_t index, std::span<const BulkPiece> pieces,
                                std::uint64_t bytes, bool write, std::uint64_t now) {
  Sm& sm = sms_[index];
  const double cost = static_cast<double>(bytes) / chip_.tma_bytes_per_cycle;
  const double begin =
      sm.tma.begin(static_cast<double>(now), cost) + static_cast<double>(chip_.tma_latency);
  double done = begin + cost;
  double sent = begin;
  for (const BulkPiece& piece : pieces) {
    if (piece.bytes == 0) continue;
    const std::uint64_t first = memory().physical(piece.address) >> sector_shift_;
    const std::uint64_t last = memory().physical(piece.address + piece.bytes - 1) >> sector_shift_;
    Home home = home_of(index, first / l2_sectors_);
    for (std::uint64_t sector = first; sector <= last; ++sector) {
      if (sector / l2_sectors_ != home.line) home = home_of(index, sector / l2_sectors_);
      done = std::max(done, l2(sm, home, sector, sent, {write, 0}));
      sent += sector_bytes_ / chip_.tma_bytes_per_cycle;
    }
  }
  return static_cast<std::uint64_t>(std::ceil(done)) +
         static_cast<std::uint64_t>(chip_.shared_latency);
}

}  // namespace emulator
