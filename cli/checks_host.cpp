// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "cli/checks.h"
#include "core/contention.h"
#include "core/provenance.h"

namespace warpmeter {
namespace {

Check check_cpu(const Facts& facts) {
  return {"cpu", "ok",
          fmt::format("{}, {:.0f} cores, {:.0f} threads allowed", fact_text(facts, "cpu.model"),
                      fact_number(facts, "cpu.cores").value_or(0),
                      fact_number(facts, "cpu.threads").value_or(0)),
          ""};
}

Check check_cores(const Facts& facts) {
  if (fact_number(facts, "cpu.cores").value_or(0) >= 2)
    return {"cores", "ok", "two cores or more", ""};
  return {"cores", "limited",
          "one core only: no core-to-core latency, no latency under load, no scaling",
          "allow more cores (taskset, cgroup)"};
}

Check check_virtualization(const Facts& facts) {
  if (fact_text(facts, "virtualization") != "virtual machine")
    return {"virtualization", "ok", "none seen", ""};
  return {"virtualization", "limited",
          "a virtual machine: caches may be shared with guests that cannot be seen, clocks cannot "
          "be set",
          "for parameters of the part itself, measure on bare metal"};
}

Check check_governor(const Facts& facts) {
  const std::string governor = fact_text(facts, "governor");
  if (governor == "performance") return {"clock governor", "ok", governor, ""};
  if (governor.empty()) {
    return {"clock governor", "limited",
            "not exposed; the clock is measured with every campaign instead", ""};
  }
  return {"clock governor", "limited", governor + ": the clock may ramp while measuring",
          "cpupower frequency-set -g performance"};
}

Check check_huge_pages(const Facts& facts) {
  const std::string mode = fact_text(facts, "page.huge.transparent");
  if (mode.find("[always]") != std::string::npos || mode.find("[madvise]") != std::string::npos) {
    return {"huge pages", "ok", "transparent huge pages: " + mode, ""};
  }
  return {"huge pages", "missing",
          "transparent huge pages: " + (mode.empty() ? "not available" : mode) +
              "; latency without translation cannot be measured",
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

Check check_memory(const Facts& facts) {
  const double l3 = fact_number(facts, "cache.l3.size").value_or(0);
  const double needed = std::max(4 * l3, 1073741824.0);
  const double available = fact_number(facts, "memory.available").value_or(0);
  const std::string text = fmt::format("{} available, DRAM sets of {} wanted",
                                       format_si(available, Unit::byte), format_bytes(needed));
  if (available > 1.5 * needed) return {"memory", "ok", text, ""};
  return {"memory", "limited", text + ": DRAM figures may be those of the last cache",
          "free memory"};
}

Check check_quiet() {
  const Json host = host_provenance(0.5);
  const Json& tenants = host.at("other_tenants");
  if (tenants.empty())
    return {"other tenants", "ok", "no other process uses over 10 % of a core", ""};
  std::string names;
  for (const Json& tenant : tenants) {
    names += fmt::format("{}{} ({:.0f} %)", names.empty() ? "" : ", ",
                         tenant.at("command").get<std::string>(),
                         100 * tenant.at("cpu_seconds_per_second").get<double>());
  }
  return {"other tenants", "limited", "busy: " + names,
          "stop them, or expect verdicts `contaminated`"};
}

Check check_timer() {
  double smallest = 1;
  for (int i = 0; i < 1000; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto end = begin;
    while (end == begin) end = std::chrono::steady_clock::now();
    smallest = std::min(smallest, std::chrono::duration<double>(end - begin).count());
  }
  const bool fine = smallest < 1e-6;
  return {"timer", fine ? "ok" : "limited",
          "monotonic clock, smallest step " + format_si(smallest, Unit::second),
          fine ? "" : "use the tsc clock source"};
}

Check check_counters() {
  std::ifstream in("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  const bool hardware = std::ifstream("/sys/bus/event_source/devices/cpu/type").good();
  if (!(in >> level) || !hardware)
    return {"cpu counters", "limited", "no hardware counters here; no timing needs them", ""};
  return {"cpu counters", "ok", fmt::format("perf_event_paranoid = {}", level), ""};
}

}  // namespace

std::vector<Check> check_host(const Device& host) {
  return {check_cpu(host.facts),
          check_cores(host.facts),
          check_virtualization(host.facts),
          check_governor(host.facts),
          check_huge_pages(host.facts),
          check_memory(host.facts),
          check_quiet(),
          check_timer(),
          check_counters()};
}

Json to_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"status", check.status},
                    {"detail", check.detail},
                    {"remedy", check.remedy}});
  }
  return list;
}

}  // namespace warpmeter
