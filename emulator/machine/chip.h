// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "emulator/machine/op_class.h"

namespace emulator {

// The planted truth: everything that the suite may measure of an emulated GPU. Each member is a key
// of the chip file; docs/emulator.md and chip.cpp say what it means and which values are possible.
struct Chip {
  std::string name;
  std::string hash;  // of the file's text
  std::int64_t devices = 0;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t memory_bytes = 0;

  std::int64_t sm_count = 0;
  std::int64_t sm_id_stride = 0;
  std::int64_t sm_threads = 0;
  std::int64_t sm_blocks = 0;
  std::int64_t sm_registers = 0;
  std::int64_t sm_shared_bytes = 0;
  std::int64_t block_shared_bytes = 0;
  double sm_hz = 0;
  double timer_ns = 0;

  struct Timing {
    double latency = 0;   // cycles from issue to use of the result
    double interval = 0;  // cycles of the pipe per warp; of mma: multiply-adds per cycle
  };
  std::array<Timing, op_classes> timing;

  std::int64_t shared_latency = 0;
  std::int64_t shared_banks = 0;
  std::int64_t cluster_latency = 0;  // of the shared memory of another block of the cluster

  std::int64_t l1_bytes = 0;  // with shared memory
  std::int64_t l1_line = 0;
  std::int64_t l1_sector = 0;
  std::int64_t l1_ways = 0;
  std::int64_t l1_latency = 0;
  std::int64_t l1_outstanding = 0;  // sectors
  double l1_bytes_per_cycle = 0;

  std::int64_t l2_bytes = 0;
  std::int64_t l2_line = 0;
  std::int64_t l2_ways = 0;
  std::int64_t l2_slices = 0;
  std::int64_t l2_partitions = 0;
  std::int64_t l2_latency = 0;
  std::int64_t l2_far_latency = 0;
  double l2_slice_bytes_per_cycle = 0;
  double l2_sm_bytes_per_cycle = 0;
  std::int64_t l2_filled_by_copies = 0;  // 0 or 1
  std::int64_t atomic_latency = 0;
  double atomic_interval = 0;  // cycles of a sector for each lane's atomic

  std::int64_t dram_latency = 0;
  std::int64_t dram_channels = 0;
  double dram_bytes_per_second = 0;  // all channels

  std::int64_t tlb_page = 0;
  std::int64_t tlb_l1_reach = 0;
  std::int64_t tlb_l1_miss_latency = 0;  // added when the page is not in the SM's level
  std::int64_t tlb_l2_reach = 0;
  std::int64_t tlb_l2_miss_latency = 0;  // added when it is not in the shared level either

  std::int64_t host_latency = 0;     // cycles of a load from mapped host memory
  double host_bytes_per_second = 0;  // each way
  std::int64_t copy_engines = 0;
  double copy_latency_ns = 0;
  std::int64_t peer_latency = 0;
  double peer_bytes_per_second = 0;

  double api_ns = 0;
  double launch_ns = 0;           // from the host's call to the first block
  double dependent_ns = 0;        // between work of one stream
  double graph_node_ns = 0;       // between nodes of a graph
  double event_ns = 0;            // resolution of event times
  std::int64_t block_cycles = 0;  // from placing a block to its first instruction

  double limit_seconds = 0;       // virtual, of one kernel
  double limit_wall_seconds = 0;  // of one kernel

  std::uint32_t max_warps() const { return static_cast<std::uint32_t>(sm_threads / 32); }
};

// Throws std::runtime_error: what, where, the remedy.
Chip read_chip(const std::string& path);
// The file named by WARPMETER_EMULATED_CHIP_FILE, read once.
const Chip& the_chip();

}  // namespace emulator
