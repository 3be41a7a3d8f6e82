// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/memory_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/machine/memory.h"

namespace emulator {
namespace {

// Cycles stay far below 2^63.
std::uint64_t round_up(double cycles) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ceil(cycles)));
}

}  // namespace

MemoryModel::MemoryModel(const Chip& chip, int device, Links& links)
    : chip_(chip),
      device_(device),
      links_(links),
      sector_shift_(std::countr_zero(static_cast<std::uint64_t>(chip.l1_sector))),
      sector_bytes_(static_cast<double>(chip.l1_sector)),
      l1_sectors_(static_cast<std::uint64_t>(chip.l1_line / chip.l1_sector)),
      l2_sectors_(static_cast<std::uint64_t>(chip.l2_line / chip.l1_sector)),
      l1_cost_(sector_bytes_ / chip.l1_bytes_per_cycle),
      port_cost_(sector_bytes_ / chip.l2_sm_bytes_per_cycle),
      slice_cost_(sector_bytes_ / chip.l2_slice_bytes_per_cycle),
      dram_cost_(sector_bytes_ * static_cast<double>(chip.dram_channels) * chip.sm_hz /
                 chip.dram_bytes_per_second),
      host_bytes_per_cycle_(chip.host_bytes_per_second / chip.sm_hz),
      sms_(static_cast<std::size_t>(chip.sm_count)),
      l2_(chip.l2_bytes, chip.l2_line, chip.l1_sector, chip.l2_ways),
      l2_tlb_(chip.tlb_l2_reach, chip.tlb_page, chip.tlb_l2_miss_latency),
      slices_(static_cast<std::size_t>(chip.l2_slices)),
      channels_(static_cast<std::size_t>(chip.dram_channels)) {
  for (Sm& sm : sms_) {
    sm.l1 = Cache(chip.l1_bytes, chip.l1_line, chip.l1_sector, chip.l1_ways);
    sm.tlb = Tlb(chip.tlb_l1_reach, chip.tlb_page, chip.tlb_l1_miss_latency);
    sm.outstanding.resize(static_cast<std::size_t>(chip.l1_outstanding));
  }
}

void MemoryModel::begin_kernel() {
  for (Sm& sm : sms_) sm.l1.clear();
}

void MemoryModel::set_carveout(std::uint32_t index, std::int64_t shared_bytes) {
  Sm& sm = sms_[index];
  if (sm.shared_bytes == shared_bytes) return;
  sm.shared_bytes = shared_bytes;
  sm.l1 = Cache(chip_.l1_bytes - shared_bytes, chip_.l1_line, chip_.l1_sector, chip_.l1_ways);
}

void MemoryModel::copied(std::uint64_t begin, std::uint64_t bytes) {
  if (chip_.l2_filled_by_copies == 0 || bytes == 0) return;
  const auto capacity = static_cast<std::uint64_t>(chip_.l2_bytes);
  // Of a copy larger than L2 only the end stays.
  const std::uint64_t skip = bytes > 2 * capacity ? bytes - 2 * capacity : 0;
  const std::uint64_t first = memory().physical(begin + skip) >> sector_shift_;
  const std::uint64_t last = memory().physical(begin + bytes - 1) >> sector_shift_;
  for (std::uint64_t sector = first; sector <= last; ++sector) {
    Cache::Place place = l2_.find(sector / l2_sectors_);
    if (place == Cache::nowhere) place = l2_.put(sector / l2_sectors_).place;
    if (place == Cache::nowhere) return;
    l2_.fill(place, static_cast<unsigned>(sector % l2_sectors_), 0);
  }
}

MemoryModel::Timing MemoryModel::access(std::uint32_t sm, const Instr& instr, const Access& access,
                                        std::uint32_t rank, std::uint64_t now) {
  switch (access.space) {
    case ptx::Space::shared:
      return shared(sms_[sm], instr, access, rank, now);
    case ptx::Space::global:
      return global(sm, instr, access, now);
    default:
      return local(sms_[sm], now);
  }
}

// Local and parameter memory: as a hit in L1.
MemoryModel::Timing MemoryModel::local(Sm& sm, std::uint64_t now) {
  const double begin = sm.lsu.begin(static_cast<double>(now), 1);
  return {round_up(begin) + static_cast<std::uint64_t>(chip_.l1_latency),
          round_up(sm.lsu.free_at())};
}

MemoryModel::Timing MemoryModel::shared(Sm& sm, const Instr& instr, const Access& access,
                                        std::uint32_t rank, std::uint64_t now) {
  const std::uint64_t wavefronts = wavefronts_of(
      access, static_cast<std::uint64_t>(chip_.shared_banks), instr.op_class == OpClass::atomic);
  const auto words = static_cast<int>(std::max(1u, access.bytes / 4));
  const auto ideal =
      static_cast<std::uint64_t>(std::max(1, std::popcount(access.mask) * words / 32));
  counters.shared_wavefronts += wavefronts;
  counters.shared_conflicts += wavefronts - std::min(wavefronts, ideal);
  // A shared address names its block above 24 bits: 0 is the own one, n that of rank n - 1.
  bool remote = false;
  for (std::uint32_t m = access.mask; m != 0; m &= m - 1) {
    const std::uint64_t selector =
        access.address[static_cast<std::size_t>(std::countr_zero(m))] >> 24;
    remote = remote || (selector != 0 && selector != rank + 1);
  }
  const std::int64_t latency = remote ? chip_.cluster_latency : chip_.shared_latency;
  const double begin = sm.lsu.begin(static_cast<double>(now), static_cast<double>(wavefronts));
  return {round_up(begin) + static_cast<std::uint64_t>(latency) + wavefronts - 1,
          round_up(sm.lsu.free_at())};
}

MemoryModel::Timing MemoryModel::linked(Sm& sm, const Access& access, std::uint64_t bytes,
                                        double begin, bool store) {
  const double size = static_cast<double>(bytes);
  double done = 0;
  if (access.on_host) {
    counters.host_bytes += bytes;
    Queue& queue = store ? host_write_ : host_read_;
    done =
        queue.begin(begin, size / host_bytes_per_cycle_) + static_cast<double>(chip_.host_latency);
  } else {
    counters.peer_bytes += bytes;
    const int from = store ? device_ : access.device;
    const int to = store ? access.device : device_;
    done = links_.begin(from, to, begin, size) + static_cast<double>(chip_.peer_latency);
  }
  return {round_up(done), round_up(sm.lsu.free_at())};
}

double MemoryModel::translate(Sm& sm, std::uint64_t sector) {
  const std::uint64_t page = (sector << sector_shift_) / static_cast<std::uint64_t>(chip_.tlb_page);
  if (!sm.tlb.on()) return l2_tlb_.miss(page);
  const double first = sm.tlb.miss(page);
  return first == 0 || !l2_tlb_.on() ? first : first + l2_tlb_.miss(page);
}

// When the SM can take another request like one of `misses` sectors without a queue that reaches
// far into the future: such a queue would hold up other SMs, whose requests are earlier.
std::uint64_t MemoryModel::next_start(const Sm& sm, std::size_t misses) const {
  constexpr double port_backlog = 16;  // cycles
  std::uint64_t start = round_up(std::max(sm.lsu.free_at(), sm.port.free_at() - port_backlog));
  std::size_t at = sm.next_outstanding;
  for (std::size_t i = 0; i < std::min(misses, sm.outstanding.size()); ++i) {
    start = std::max(start, sm.outstanding[at]);
    if (++at == sm.outstanding.size()) at = 0;
  }
  return start;
}

MemoryModel::Timing MemoryModel::global(std::uint32_t index, const Instr& instr,
                                        const Access& access, std::uint64_t now) {
  Sm& sm = sms_[index];
  Sectors sectors;
  const std::uint64_t origin = memory().origin();
  coalesce(access, sector_shift_, origin, sectors);
  const double cost =
      std::max(1.0, std::ceil(static_cast<double>(sectors.count) * l1_cost_ - 1e-9));
  const double begin = sm.lsu.begin(static_cast<double>(now), cost);
  const bool atomic = instr.op_class == OpClass::atomic;
  const bool store = instr.op_class == OpClass::store;
  if (access.on_host || access.device != device_) {
    return linked(sm, access, sectors.count << sector_shift_, begin, store);
  }
  const bool through_l1 = !store && !atomic &&
                          (instr.cache == CacheOp::all || instr.cache == CacheOp::streaming ||
                           instr.cache == CacheOp::last_use);
  const bool translates = sm.tlb.on() || l2_tlb_.on();
  double done = begin;
  std::size_t misses = 0;
  Home home;
  std::uint64_t home_end = 0;  // first sector behind the line
  Cache::Place place = Cache::nowhere;
  std::uint64_t place_end = 0;
  for (std::size_t i = 0; i < sectors.count; ++i) {
    const std::uint64_t sector = sectors.number[i];
    const double translation = translates ? translate(sm, sector) : 0;
    if (through_l1) {
      if (sector >= place_end) {
        place = sm.l1.find(sector / l1_sectors_);
        place_end = (sector / l1_sectors_ + 1) * l1_sectors_;
      }
      ++counters.l1_sectors;
      const auto part = static_cast<unsigned>(sector + l1_sectors_ - place_end);
      if (place != Cache::nowhere && sm.l1.holds(place, part)) {
        ++counters.l1_hits;
        done = std::max({done, begin + static_cast<double>(chip_.l1_latency) + translation,
                         static_cast<double>(sm.l1.ready(place, part))});
        continue;
      }
    }
    if (sector >= home_end) {
      home = home_of(index, sector / l2_sectors_);
      home_end = (home.line + 1) * l2_sectors_;
    }
    // A request beyond the limit waits until the one that many places before it is back.
    std::uint64_t& slot = sm.outstanding[sm.next_outstanding];
    if (++sm.next_outstanding == sm.outstanding.size()) sm.next_outstanding = 0;
    const double start = std::max(begin, static_cast<double>(slot));
    ++misses;
    const Use use{store || atomic, atomic ? lanes_of(access, sector_shift_, origin, sector) : 0};
    const double arrived = l2(sm, home, sector, start, use) + translation;
    slot = round_up(arrived);
    done = std::max(done, arrived);
    if (!through_l1) continue;
    if (place == Cache::nowhere) place = sm.l1.put(sector / l1_sectors_).place;
    if (place == Cache::nowhere) continue;  // no L1 left
    sm.l1.fill(place, static_cast<unsigned>(sector + l1_sectors_ - place_end), slot);
  }
  return {round_up(done), misses == 0 ? round_up(sm.lsu.free_at()) : next_start(sm, misses)};
}

}  // namespace emulator
