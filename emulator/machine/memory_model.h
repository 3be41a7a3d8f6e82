// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/machine/cache.h"
#include "emulator/machine/chip.h"
#include "emulator/machine/coalesce.h"
#include "emulator/machine/counters.h"
#include "emulator/machine/links.h"
#include "emulator/machine/tlb.h"
#include "emulator/machine/warp.h"

namespace emulator {

// When memory instructions complete: caches and queues of one device. Calls come in the order of
// issue.
class MemoryModel {
 public:
  MemoryModel(const Chip& chip, int device, Links& links);

  struct Timing {
    std::uint64_t done = 0;      // result usable, or store accepted
    std::uint64_t lsu_free = 0;  // when the SM can start the next memory instruction
  };
  // `rank`: of the block in its cluster, for shared memory of others.
  Timing access(std::uint32_t sm, const Instr& instr, const Access& access, std::uint32_t rank,
                std::uint64_t now);

  // A copy by the bulk engine between global and shared memory.
  std::uint64_t bulk(std::uint32_t sm, std::uint64_t address, std::uint64_t bytes, bool write,
                     std::uint64_t now);

  void begin_kernel();  // L1 starts empty
  // Of a copy that passes through L2.
  void copied(std::uint64_t begin, std::uint64_t bytes);
  // Shared memory that blocks of an SM may use is no longer L1.
  void set_carveout(std::uint32_t sm, std::int64_t shared_bytes);

  Counters counters;

 private:
  struct Sm {
    Cache l1;
    Tlb tlb;
    std::int64_t shared_bytes = 0;
    Queue lsu;
    Queue port;                              // to L2
    std::vector<std::uint64_t> outstanding;  // ring of completions
    std::size_t next_outstanding = 0;
  };
  // Where an L2 line lives, as one SM sees it.
  struct Home {
    std::uint64_t line = 0;
    Queue* slice = nullptr;
    Queue* channel = nullptr;
    double distance = 0;  // cycles
    Cache::Place place = Cache::nowhere;
  };
  // What a request does to L2.
  struct Use {
    bool write = false;
    int atomics = 0;  // lanes
  };
  struct Busy {
    std::uint64_t sector = ~std::uint64_t{0};
    double free = 0;
  };
  Timing shared(Sm& sm, const Instr& instr, const Access& access, std::uint32_t rank,
                std::uint64_t now);
  Timing global(std::uint32_t sm, const Instr& instr, const Access& access, std::uint64_t now);
  std::uint64_t next_start(const Sm& sm, std::size_t misses) const;
  Timing local(Sm& sm, std::uint64_t now);
  Timing linked(Sm& sm, const Access& access, std::uint64_t bytes, double begin, bool store);
  Home home_of(std::uint32_t sm, std::uint64_t line);
  double l2(Sm& sm, Home& home, std::uint64_t sector, double now, Use use);
  double after_atomics(std::uint64_t sector, double now, int lanes);
  double translate(Sm& sm, std::uint64_t sector);

  const Chip& chip_;
  int device_;
  Links& links_;
  int sector_shift_;
  double sector_bytes_;
  std::uint64_t l1_sectors_;  // of a line
  std::uint64_t l2_sectors_;
  double l1_cost_;  // cycles of a sector
  double port_cost_;
  double slice_cost_;
  double dram_cost_;
  double host_bytes_per_cycle_;
  std::vector<Sm> sms_;
  Cache l2_;
  Tlb l2_tlb_;
  std::vector<Queue> slices_;
  std::vector<Queue> channels_;
  std::array<Busy, 1024> busy_{};  // by sector; of two that fall together the later one counts
  Queue host_read_;
  Queue host_write_;
};

}  // namespace emulator
