// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/memory_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "emulator/machine/memory.h"

namespace emulator {
namespace {

std::uint64_t round_up(double cycles) { return static_cast<std::uint64_t>(std::ceil(cycles)); }

// Spreads neighbouring lines over slices and channels, and regular strides too.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 15;
  x *= 0x9e3779b97f4a7c15;
  return x ^ (x >> 29);
}

}  // namespace

MemoryModel::MemoryModel(const Chip& chip, int device)
    : chip_(chip),
      device_(device),
      dram_bytes_per_cycle_(chip.dram_bytes_per_second / chip.sm_hz /
                            static_cast<double>(chip.dram_channels)),
      host_bytes_per_cycle_(chip.host_bytes_per_second / chip.sm_hz),
      peer_bytes_per_cycle_(chip.peer_bytes_per_second / chip.sm_hz),
      sms_(static_cast<std::size_t>(chip.sm_count)),
      l2_(chip.l2_bytes, chip.l2_line, chip.l1_sector, chip.l2_ways),
      slices_(static_cast<std::size_t>(chip.l2_slices)),
      channels_(static_cast<std::size_t>(chip.dram_channels)) {
  for (Sm& sm : sms_) {
    sm.l1 = Cache(chip.l1_bytes, chip.l1_line, chip.l1_sector, chip.l1_ways);
    sm.tlb = Cache(chip.tlb_reach, chip.tlb_page, chip.tlb_page, 64);
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
  if (chip_.l2_filled_by_copies == 0) return;
  const auto sector = static_cast<std::uint64_t>(chip_.l1_sector);
  const auto capacity = static_cast<std::uint64_t>(chip_.l2_bytes);
  // Of a copy larger than L2 only the end stays.
  const std::uint64_t skip = bytes > 2 * capacity ? bytes - 2 * capacity : 0;
  for (std::uint64_t at = skip; at < bytes; at += sector) {
    l2_.fill(memory().physical(begin + at), 0, false);
  }
}

MemoryModel::Timing MemoryModel::access(std::uint32_t sm, const Instr& instr, const Access& access,
                                        std::uint64_t now) {
  switch (access.space) {
    case ptx::Space::shared:
      return shared(sms_[sm], instr, access, now);
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

// One wavefront serves each bank once; the same word for several lanes is one access. Wide accesses
// are split into groups of lanes that move 128 B.
MemoryModel::Timing MemoryModel::shared(Sm& sm, const Instr& instr, const Access& access,
                                        std::uint64_t now) {
  const auto banks = static_cast<std::uint64_t>(chip_.shared_banks);
  const int words = static_cast<int>(std::max(1u, access.bytes / 4));
  const int group = std::max(1, 32 / words);
  std::uint64_t wavefronts = 0;
  for (int first = 0; first < 32; first += group) {
    std::array<std::array<std::uint64_t, 32>, 64> seen;
    std::array<std::uint8_t, 64> count{};
    std::uint64_t worst = 0;
    for (int l = first; l < first + group; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      for (int word = 0; word < words; ++word) {
        const std::uint64_t at =
            access.address[static_cast<std::size_t>(l)] / 4 + static_cast<std::uint64_t>(word);
        const std::uint64_t bank = at % banks;
        auto& known = seen[bank];
        std::uint8_t& used = count[bank];
        const bool again =
            instr.op_class != OpClass::atomic &&
            std::find(known.begin(), known.begin() + used, at) != known.begin() + used;
        if (again || used == 32) continue;
        known[used++] = at;
        worst = std::max<std::uint64_t>(worst, used);
      }
    }
    wavefronts += worst;
  }
  wavefronts = std::max<std::uint64_t>(wavefronts, 1);
  const auto ideal =
      static_cast<std::uint64_t>(std::max(1, std::popcount(access.mask) * words / 32));
  counters.shared_wavefronts += wavefronts;
  counters.shared_conflicts += wavefronts - std::min(wavefronts, ideal);
  const double begin = sm.lsu.begin(static_cast<double>(now), static_cast<double>(wavefronts));
  return {round_up(begin) + static_cast<std::uint64_t>(chip_.shared_latency) + wavefronts - 1,
          round_up(sm.lsu.free_at())};
}

double MemoryModel::dram(std::uint64_t address, double now, double bytes) {
  const std::uint64_t line = address / static_cast<std::uint64_t>(chip_.l2_line);
  Queue& channel = channels_[mix(line / 2) % channels_.size()];
  return channel.begin(now, bytes / dram_bytes_per_cycle_);
}

// Returns when the sector's data is back at the SM.
double MemoryModel::l2(std::uint32_t sm, std::uint64_t address, double now, bool write,
                       bool atomic) {
  const double bytes = static_cast<double>(chip_.l1_sector);
  const double sent = sms_[sm].port.begin(now, bytes / chip_.l2_sm_bytes_per_cycle);
  const std::uint64_t line = address / static_cast<std::uint64_t>(chip_.l2_line);
  const std::uint64_t slice = mix(line) % slices_.size();
  const double served = slices_[slice].begin(sent, bytes / chip_.l2_slice_bytes_per_cycle);
  const std::uint64_t partition =
      slice * static_cast<std::uint64_t>(chip_.l2_partitions) / slices_.size();
  const bool far = partition != sm * static_cast<std::uint64_t>(chip_.l2_partitions) / sms_.size();
  const double distance = far ? static_cast<double>(chip_.l2_far_latency) : 0;
  ++counters.l2_sectors;
  const Cache::Result found = l2_.find(address);
  const double latency = static_cast<double>(atomic ? chip_.atomic_latency : chip_.l2_latency);
  double done = served + latency + distance;
  if (found.hit) {
    ++counters.l2_hits;
    if (write) l2_.fill(address, found.ready, true);
    return std::max(done, static_cast<double>(found.ready));
  }
  if (!write || atomic) {
    const double begin = dram(address, served, bytes);
    counters.dram_read_bytes += static_cast<std::uint64_t>(chip_.l1_sector);
    done = begin + static_cast<double>(chip_.dram_latency) + distance;
  }
  const Cache::Result filled = l2_.fill(address, round_up(done), write);
  if (filled.evicted_dirty_sectors > 0) {
    const double dirty = bytes * filled.evicted_dirty_sectors;
    counters.dram_write_bytes += static_cast<std::uint64_t>(dirty);
    // A store waits for the room that its line takes.
    const double begin = dram(address, served, dirty);
    if (write) done = std::max(done, begin + latency);
  }
  return done;
}

// The engine takes one copy after the other; sectors leave it at its rate, behind its latency.
std::uint64_t MemoryModel::bulk(std::uint32_t sm, std::span<const BulkPiece> pieces,
                                std::uint64_t bytes, bool write, std::uint64_t now) {
  const auto sector = static_cast<std::uint64_t>(chip_.l1_sector);
  const double cost = static_cast<double>(bytes) / chip_.tma_bytes_per_cycle;
  const double begin =
      sms_[sm].tma.begin(static_cast<double>(now), cost) + static_cast<double>(chip_.tma_latency);
  double done = begin + cost;
  std::uint64_t before = 0;
  for (const BulkPiece& piece : pieces) {
    for (std::uint64_t at = piece.address / sector * sector; at < piece.address + piece.bytes;
         at += sector) {
      const double sent = begin + static_cast<double>(before) / chip_.tma_bytes_per_cycle;
      done = std::max(done, l2(sm, memory().physical(at), sent, write, false));
      before += sector;
    }
  }
  return round_up(done) + static_cast<std::uint64_t>(chip_.shared_latency);
}

std::uint64_t MemoryModel::linked(const Access& access, std::uint64_t bytes, std::uint64_t now,
                                  bool store) {
  const double size = static_cast<double>(bytes);
  if (access.on_host) {
    counters.host_bytes += bytes;
    Queue& queue = store ? host_write_ : host_read_;
    return round_up(queue.begin(static_cast<double>(now), size / host_bytes_per_cycle_) +
                    static_cast<double>(chip_.host_latency));
  }
  counters.peer_bytes += bytes;
  return round_up(peer_.begin(static_cast<double>(now), size / peer_bytes_per_cycle_) +
                  static_cast<double>(chip_.peer_latency));
}

MemoryModel::Timing MemoryModel::global(std::uint32_t index, const Instr& instr,
                                        const Access& access, std::uint64_t now) {
  Sm& sm = sms_[index];
  const auto sector = static_cast<std::uint64_t>(chip_.l1_sector);
  // The sectors that the warp touches, each once: at most 32 lanes of 32 B at any alignment.
  std::array<std::uint64_t, 128> sectors;
  std::size_t count = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint32_t m = access.mask; m != 0; m &= m - 1) {
    const std::uint64_t begin = access.address[static_cast<std::size_t>(std::countr_zero(m))];
    for (std::uint64_t s = begin / sector; s <= (begin + access.bytes - 1) / sector; ++s) {
      if (s != last && count < sectors.size()) sectors[count++] = s;
      last = s;
    }
  }
  std::sort(sectors.begin(), sectors.begin() + count);
  count = static_cast<std::size_t>(std::unique(sectors.begin(), sectors.begin() + count) -
                                   sectors.begin());
  const double width = chip_.l1_bytes_per_cycle;
  const double cost = std::max(1.0, std::ceil(static_cast<double>(count * sector) / width));
  const bool atomic = instr.op_class == OpClass::atomic;
  const bool store = instr.op_class == OpClass::store;
  // Atomics to one address are done one after the other.
  const double begin = sm.lsu.begin(static_cast<double>(now), cost);
  Timing timing;
  if (access.on_host || access.device != device_) {
    timing.done = linked(access, count * sector, round_up(begin), store);
    timing.lsu_free = round_up(sm.lsu.free_at());
    return timing;
  }
  double done = begin;
  double stall = 0;
  const bool through_l1 = !store && !atomic &&
                          (instr.cache == CacheOp::all || instr.cache == CacheOp::streaming ||
                           instr.cache == CacheOp::last_use);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t address = memory().physical(sectors[i] * sector);
    double start = begin;
    if (chip_.tlb_miss_latency > 0) {
      const Cache::Result page = sm.tlb.find(address);
      if (!page.hit) {
        sm.tlb.fill(address, 0, false);
        start += static_cast<double>(chip_.tlb_miss_latency);
      }
    }
    if (through_l1) {
      ++counters.l1_sectors;
      const Cache::Result found = sm.l1.find(address);
      if (found.hit) {
        ++counters.l1_hits;
        done = std::max({done, start + static_cast<double>(chip_.l1_latency),
                         static_cast<double>(found.ready)});
        continue;
      }
    }
    // A request beyond the limit waits until the one that many places before it is back.
    std::uint64_t& slot = sm.outstanding[sm.next_outstanding];
    sm.next_outstanding = (sm.next_outstanding + 1) % sm.outstanding.size();
    start = std::max(start, static_cast<double>(slot));
    stall = std::max(stall, static_cast<double>(slot));
    const double arrived = l2(index, address, start, store || atomic, atomic);
    slot = round_up(arrived);
    if (through_l1) sm.l1.fill(address, round_up(arrived), false);
    done = std::max(done, arrived);
  }
  timing.done = round_up(done);
  timing.lsu_free = round_up(std::max(sm.lsu.free_at(), stall));
  return timing;
}

}  // namespace emulator
