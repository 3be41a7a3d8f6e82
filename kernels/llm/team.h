// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <sched.h>

#include <string>
#include <vector>

namespace warpmeter {

// One logical CPU of each core on which this process may run (hwloc, restricted to the process's
// affinity mask): a second hardware thread of a core adds no vector units.
const std::vector<int>& usable_cpus();

// While it lives, OpenMP regions started by this thread, oneDNN's included, use `threads` threads,
// each bound to one usable CPU (the OpenMP settings OMP_PROC_BIND and OMP_PLACES are read before
// main, so they cannot be set from here). Its end restores the calling thread's mask, because
// threads created later inherit it.
class BoundTeam {
 public:
  // Throws InputError if there are fewer cores, UnsupportedError if OpenMP gives fewer threads.
  explicit BoundTeam(int threads);
  ~BoundTeam();
  BoundTeam(const BoundTeam&) = delete;
  BoundTeam& operator=(const BoundTeam&) = delete;

  int threads() const { return threads_; }

 private:
  void restore();

  int threads_;
  int previous_threads_;
  int previous_dynamic_;
  cpu_set_t previous_mask_;
};

// How idle threads of the team wait, for the record. libgomp's default spins for milliseconds
// before it sleeps, which is what we want: a sleeping team adds the time of a wake-up, some 60 us
// here, to every region. Both variables are read before main and cannot be set from inside.
std::string wait_policy();

}  // namespace warpmeter
