// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/contention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace warpmeter {
namespace {

double waited_s() {
  double total_ns = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream in(task.path() / "schedstat");
    double ran = 0;
    double waited = 0;
    if (in >> ran >> waited) total_ns += waited;
  }
  return total_ns * 1e-9;
}

double own_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

ContentionWatch::ContentionWatch() {
  start_ = {};
  start_ = read();
}

// Absolute values at construction, differences from then on: the start is zero while the
// constructor calls.
ContentionWatch::Reading ContentionWatch::read() const {
  Reading now;
  now.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() -
      start_.wall_s;
  now.waited_s = waited_s() - start_.waited_s;
  std::ifstream in(
      "/proc/stat");  // proc(5): user nice system idle iowait irq softirq steal, in clock ticks
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft = 0, steal = 0;
  in >> label >> user >> nice >> system >> idle >> io >> irq >> soft >> steal;
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  now.stolen_s = steal / ticks_per_s - start_.stolen_s;
  now.others_busy_s =
      (user + nice + system + irq + soft) / ticks_per_s - own_cpu_s() - start_.others_busy_s;
  return now;
}

}  // namespace warpmeter
