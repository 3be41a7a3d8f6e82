// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// Watches what others took from us between construction and read(): the time our threads waited for
// a core
// (/proc/self/task/*/schedstat) and the time the hypervisor gave to other guests (steal,
// /proc/stat).
class ContentionWatch {
 public:
  ContentionWatch();

  struct Reading {
    double wall_s = 0;
    double waited_s = 0;       // sum over our threads that still exist
    double stolen_s = 0;       // sum over all cores
    double others_busy_s = 0;  // CPU time of all other processes, sum over all cores
  };
  Reading read() const;

 private:
  Reading start_;
};

}  // namespace warpmeter
