// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/machine/cache.h"
#include "emulator/machine/chip.h"
#include "emulator/machine/counters.h"
#include "emulator/machine/warp.h"

namespace emulator {

// A server that works through requests in the order of their arrival.
class Queue {
 public:
  // When a request that arrives at `now` and takes `cost` cycles begins.
  double begin(double now, double cost) {
    const double start = now > free_ ? now : free_;
    free_ = start + cost;
    return start;
  }
  double free_at() const { return free_; }

 private:
  double free_ = 0;
};

// When memory instructions complete: caches and queues of one device. Calls come in the order of
// issue.
class MemoryModel {
 public:
  explicit MemoryModel(const Chip& chip, int device);

  struct Timing {
    std::uint64_t done = 0;      // result usable, or store accepted
    std::uint64_t lsu_free = 0;  // when the SM can start the next memory instruction
  };
  Timing access(std::uint32_t sm, const Instr& instr, const Access& access, std::uint64_t now);

  // A copy by the SM's bulk engine between shared memory and pieces of global memory; `bytes` of
  // shared memory pass through the engine. Returns the cycle of its end.
  struct BulkPiece {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  std::uint64_t bulk(std::uint32_t sm, std::span<const BulkPiece> pieces, std::uint64_t bytes,
                     bool write, std::uint64_t now);

  void begin_kernel();  // L1 starts empty
  // Of a copy that passes through L2.
  void copied(std::uint64_t begin, std::uint64_t bytes);
  // Shared memory that blocks of an SM may use is no longer L1.
  void set_carveout(std::uint32_t sm, std::int64_t shared_bytes);

  Counters counters;

 private:
  struct Sm {
    Cache l1;
    Cache tlb;
    std::int64_t shared_bytes = 0;
    Queue lsu;
    Queue port;                              // to L2
    Queue tma;                               // bulk engine
    std::vector<std::uint64_t> outstanding;  // ring of completions
    std::size_t next_outstanding = 0;
  };
  Timing shared(Sm& sm, const Instr& instr, const Access& access, std::uint64_t now);
  Timing global(std::uint32_t sm, const Instr& instr, const Access& access, std::uint64_t now);
  Timing local(Sm& sm, std::uint64_t now);
  std::uint64_t linked(const Access& access, std::uint64_t bytes, std::uint64_t now, bool store);
  double l2(std::uint32_t sm, std::uint64_t address, double now, bool write, bool atomic);
  double dram(std::uint64_t address, double now, double bytes);

  const Chip& chip_;
  int device_;
  double dram_bytes_per_cycle_;  // per channel
  double host_bytes_per_cycle_;
  double peer_bytes_per_cycle_;
  std::vector<Sm> sms_;
  Cache l2_;
  std::vector<Queue> slices_;
  std::vector<Queue> channels_;
  Queue host_read_;
  Queue host_write_;
  Queue peer_;
};

}  // namespace emulator
