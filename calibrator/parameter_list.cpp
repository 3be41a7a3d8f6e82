// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "calibrator/latency_parameters.h"
#include "calibrator/parameters.h"
#include "calibrator/staircase_names.h"

namespace warpmeter {
namespace {

struct Wanted {
  std::string name;
  Unit unit;
};

void want_memory(DeviceKind kind, std::vector<Wanted>& list) {
  for (const std::string& level : memory_levels(kind)) {
    list.push_back({latency_name(level), Unit::second});
    if (level != "dram") list.push_back({"capacity." + level, Unit::byte});
    for (const char* access : {"read", "write", "copy", "triad"}) {
      if (kind == DeviceKind::cpu) {
        list.push_back({fmt::format("bandwidth.{}.{}.core", level, access), Unit::byte_per_second});
      }
      list.push_back({fmt::format("bandwidth.{}.{}.device", level, access), Unit::byte_per_second});
    }
  }
}

void want_compute(DeviceKind kind, std::vector<Wanted>& list) {
  for (const char* type : {"f64", "f32", "bf16", "int8"}) {
    for (const char* phase : {"burst", "sustained"}) {
      if (kind == DeviceKind::cpu) {
        list.push_back(
            {fmt::format("throughput.fma.{}.core.{}", type, phase), Unit::op_per_second});
      }
      list.push_back(
          {fmt::format("throughput.fma.{}.device.{}", type, phase), Unit::op_per_second});
    }
  }
  list.push_back({"latency.fma.f64", Unit::second});
  list.push_back({"latency.fma.f32", Unit::second});
}

// Every parameter that docs/quantities.md lists for the kind of device, but for those with open
// ends (further numeric types, model.overhead.<family>).
std::vector<Wanted> wanted(DeviceKind kind) {
  std::vector<Wanted> list;
  want_memory(kind, list);
  want_compute(kind, list);
  list.push_back({"model.overlap", Unit::one});
  if (kind == DeviceKind::cpu) {
    const std::vector<Wanted> host{
        {"latency.tlb_miss", Unit::second},
        {"bandwidth.dram.saturated.core", Unit::byte_per_second},
        {"latency.dram.in_flight", Unit::second},
        {"concurrency.dram.core", Unit::byte},
        {"latency.dram.loaded", Unit::second},
        {"latency.core_to_core", Unit::second},
        {"launch.fork_join", Unit::second},
        {"clock.core.scalar", Unit::hertz},
        {"clock.core.vector", Unit::hertz},
    };
    list.insert(list.end(), host.begin(), host.end());
    return list;
  }
  const std::vector<Wanted> gpu{
      {"throughput.mma.bf16.device", Unit::op_per_second},
      {"launch.stream", Unit::second},
      {"launch.graph", Unit::second},
      {"clock.sm", Unit::hertz},
  };
  list.insert(list.end(), gpu.begin(), gpu.end());
  for (const char* direction : {"h2d", "d2h", "p2p"}) {
    list.push_back({fmt::format("transfer.{}.bandwidth", direction), Unit::byte_per_second});
    list.push_back({fmt::format("transfer.{}.latency", direction), Unit::second});
  }
  return list;
}

}  // namespace

void add_missing(DeviceKind kind, Draft& draft) {
  for (const Wanted& item : wanted(kind)) {
    if (draft.machine.parameters.contains(item.name)) continue;
    draft.machine.parameters[item.name] =
        unknown(item.unit, Status::not_measured,
                draft.status == Status::published ? "no source in the runs states it"
                                                  : "the runs hold no measurement of it");
  }
}

}  // namespace warpmeter
