// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/team.h"

#include <hwloc.h>
#include <omp.h>

#include <atomic>
#include <cstdlib>

#include "core/error.h"

namespace warpmeter {
namespace {

std::vector<int> find_cpus() {
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_set_flags(
      topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  hwloc_topology_load(topology);
  std::vector<int> cpus;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));)
    cpus.push_back(hwloc_bitmap_first(core->cpuset));
  hwloc_topology_destroy(topology);
  if (cpus.empty()) cpus.push_back(sched_getcpu());  // no topology in some containers
  return cpus;
}

void bind_to(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  sched_setaffinity(0, sizeof mask, &mask);  // 0: the calling thread
}

}  // namespace

const std::vector<int>& usable_cpus() {
  static const std::vector<int> cpus = find_cpus();
  return cpus;
}

BoundTeam::BoundTeam(int threads)
    : threads_(threads),
      previous_threads_(omp_get_max_threads()),
      previous_dynamic_(omp_get_dynamic()) {
  const std::vector<int>& cpus = usable_cpus();
  if (threads < 1 || threads > static_cast<int>(cpus.size()))
    throw InputError("threads=" + std::to_string(threads) + " is not possible: this process has " +
                     std::to_string(cpus.size()) + " cores");
  sched_getaffinity(0, sizeof previous_mask_, &previous_mask_);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  std::atomic<int> bound = 0;
#pragma omp parallel num_threads(threads)
  {
    bind_to(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
    ++bound;
  }
  if (bound == threads) return;
  restore();
  throw UnsupportedError("OpenMP gives " + std::to_string(bound) + " of " +
                         std::to_string(threads) + " threads: unset OMP_THREAD_LIMIT");
}

BoundTeam::~BoundTeam() { restore(); }

void BoundTeam::restore() {
  const cpu_set_t mask = previous_mask_;
#pragma omp parallel num_threads(threads_)
  sched_setaffinity(0, sizeof mask, &mask);
  omp_set_num_threads(previous_threads_);
  omp_set_dynamic(previous_dynamic_);
}

std::string wait_policy() {
  for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
    if (const char* value = std::getenv(name)) return std::string(name) + "=" + value;
  return "default (spins, then sleeps)";
}

}  // namespace warpmeter
