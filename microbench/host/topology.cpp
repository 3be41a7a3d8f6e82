// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/error.h"

namespace warpmeter {

namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

struct Cores {
  hwloc_topology_t topology = nullptr;  // lives as long as the process
  std::vector<int> all;
  std::vector<int> near_first;
};

Cores read_cores() {
  Cores cores;
  if (hwloc_topology_init(&cores.topology) != 0 ||
      hwloc_topology_set_flags(cores.topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                                   HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) !=
          0 ||
      hwloc_topology_load(cores.topology) != 0)
    throw std::runtime_error("hwloc cannot read the topology of this machine");
  hwloc_obj_t core = nullptr;
  hwloc_obj_t first = nullptr;
  while ((core = hwloc_get_next_obj_by_type(cores.topology, HWLOC_OBJ_CORE, core)) != nullptr) {
    if (first == nullptr) first = core;
    const int cpu = hwloc_bitmap_first(core->cpuset);
    cores.all.push_back(cpu);
    if (hwloc_bitmap_isequal(core->nodeset, first->nodeset) != 0 && cores.near_first.size() < 8)
      cores.near_first.push_back(cpu);
  }
  if (cores.all.empty()) throw std::runtime_error("hwloc sees no core that this process may use");
  return cores;
}

const Cores& cores() {
  static const Cores known = read_cores();
  return known;
}

}  // namespace

const std::vector<int>& allowed_cores() { return cores().all; }

std::vector<int> first_cores(int count) {
  const std::vector<int>& all = allowed_cores();
  if (count < 1 || static_cast<std::size_t>(count) > all.size())
    throw UnsupportedError(
        fmt::format("{} cores asked for, {} allowed to this process", count, all.size()));
  return {all.begin(), all.begin() + count};
}

std::vector<int> cores_near_first() { return cores().near_first; }

void bind_thread(int cpu) {
  Bitmap set(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  hwloc_bitmap_only(set.get(), static_cast<unsigned>(cpu));
  if (hwloc_set_cpubind(cores().topology, set.get(), HWLOC_CPUBIND_THREAD) != 0)
    throw UnsupportedError(fmt::format("the system refuses to bind a thread to processor {}", cpu));
}

int current_cpu() { return sched_getcpu(); }

}  // namespace warpmeter
