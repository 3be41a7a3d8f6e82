// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/stats.h"

namespace warpmeter {
namespace {

struct Mix {
  const char* name;
  double written_share;
};
constexpr std::array<Mix, 4> mixes{
    {{"read", 0.0}, {"triad", 1.0 / 3}, {"copy", 0.5}, {"write", 1.0}}};

// Up to this share of written bytes the read bandwidth stands for the mix: an error in the written
// part's cost of a factor 2 is then one of 5 % in the memory time.
constexpr double negligible_written_share = 0.05;

// Kernels' buffers may use either page size; a kernel that says which wins, else huge pages, which
// allocators and oneDNN's large buffers get, then what there is.
int page_rank(const Curve& curve, const Parameters& parameters) {
  const std::optional<std::string> page = word(curve.parameters, "page");
  const std::optional<std::string> wanted = word(parameters, "page");
  if (page && wanted) return *page == *wanted ? 3 : 0;
  if (page == "huge" || word(curve.parameters, "path") == "cg") return 2;
  return 1;
}

const Curve* find_curve(const Machine& machine, const std::string& quantity,
                        const Parameters& parameters) {
  const std::optional<double> threads = number(parameters, "threads");
  const Curve* best = nullptr;
  for (const Curve& curve : machine.curves) {
    if (curve.quantity != quantity || curve.x_name != "footprint" || curve.points.empty()) continue;
    const std::optional<double> curve_threads = number(curve.parameters, "threads");
    if (curve_threads && curve_threads != threads) continue;
    if (!best || page_rank(curve, parameters) > page_rank(*best, parameters)) best = &curve;
  }
  return best;
}

// Null beyond the last point. Before the first one its value holds: both lie inside the first
// level.
std::optional<Input> at_footprint(const Curve& curve, double footprint) {
  const auto after =
      std::lower_bound(curve.points.begin(), curve.points.end(), footprint,
                       [](const CurvePoint& point, double x) { return point.x < x; });
  if (after == curve.points.end()) return std::nullopt;
  const CurvePoint& hi = *after;
  const CurvePoint& lo = after == curve.points.begin() ? hi : *(after - 1);
  const double part = &lo == &hi ? 1 : std::log(footprint / lo.x) / std::log(hi.x / lo.x);
  const double value = std::exp(std::log(lo.y) * (1 - part) + std::log(hi.y) * part);
  const double sigma = sigma_of(lo.interval, default_level) * (1 - part) +
                       sigma_of(hi.interval, default_level) * part;
  return Input{fmt::format("{}/{}@{:.0f}", curve.quantity, to_string(curve.parameters), footprint),
               value, sigma, 0};
}

std::optional<Input> bandwidth_of(const Machine& machine, const std::string& mix,
                                  const std::string& level, double footprint,
                                  const Parameters& parameters, Scope scope) {
  if (word(parameters, "residency") != "cold") {
    if (const Curve* curve = find_curve(machine, "bandwidth." + mix, parameters)) {
      if (std::optional<Input> input = at_footprint(*curve, footprint)) return input;
    }
  }
  return input_of(machine, fmt::format("bandwidth.{}.{}.{}", level, mix, to_string(scope)), 0);
}

// Seconds per byte at a written share between two measured mixes; part = 0 is all `a`.
MemoryTime between(const Input& a, const Input& b, double part, double bytes) {
  const double time_a = (1 - part) * bytes / a.value;
  const double time_b = part * bytes / b.value;
  MemoryTime result;
  result.time_s = time_a + time_b;
  for (const auto& [input, time] : {std::pair(a, time_a), std::pair(b, time_b)}) {
    if (time <= 0) continue;
    result.inputs.push_back(input);
    result.inputs.back().elasticity = -time / result.time_s;
  }
  return result;
}

}  // namespace

std::string_view to_string(Scope scope) { return scope == Scope::core ? "core" : "device"; }

bool is_host(const Machine& machine) { return machine.device == "cpu"; }

std::optional<Scope> scope_of(const Machine& machine, const Parameters& parameters,
                              std::vector<std::string>& missing) {
  if (!is_host(machine)) return Scope::device;
  const std::optional<double> threads = number(parameters, "threads");
  if (!threads) {
    missing.push_back("the kernel's threads");
    return std::nullopt;
  }
  if (*threads == 1) return Scope::core;
  const std::optional<double> cores = fact_number(machine.facts, "cpu.cores");
  if (cores && *threads >= *cores) return Scope::device;
  missing.push_back(cores ? fmt::format("ceilings for {} of {} cores", *threads, *cores)
                          : std::string("fact cpu.cores"));
  return std::nullopt;
}

std::string serving_level(const Machine& machine, double working_set, double threads) {
  const bool host = is_host(machine);
  for (const std::string level : {"l1", "l2", "l3"}) {
    if (!host && level != "l2") continue;
    std::optional<double> capacity = value_of(machine, "capacity." + level);
    if (!capacity) {
      const std::string fact = level == "l1" ? "l1d" : level;
      capacity = fact_number(machine.facts, fmt::format("cache.{}.size", fact));
    }
    const double copies = host && level != "l3" ? threads : 1;
    if (capacity && working_set <= *capacity * copies) return level;
  }
  return "dram";
}

std::optional<MemoryTime> memory_time(const Machine& machine, const Work& work,
                                      const Parameters& parameters, Scope scope,
                                      std::vector<std::string>& missing) {
  const double bytes = work.bytes_read + work.bytes_written;
  if (bytes <= 0) return MemoryTime{};
  const std::string level =
      word(parameters, "residency") == "cold"
          ? "dram"
          : serving_level(machine, work.working_set, number(parameters, "threads").value_or(1));
  const double written = work.bytes_written / bytes;
  std::optional<Input> below, above;
  double share_below = 0, share_above = 0;
  for (const Mix& mix : mixes) {
    std::optional<Input> input =
        bandwidth_of(machine, mix.name, level, work.working_set, parameters, scope);
    if (!input) continue;
    if (mix.written_share <= written) {
      below = std::move(input);
      share_below = mix.written_share;
    } else if (!above) {
      above = std::move(input);
      share_above = mix.written_share;
    }
  }
  if (!below) {
    missing.push_back(fmt::format("bandwidth.{}.read.{}", level, to_string(scope)));
    return std::nullopt;
  }
  if (!above && written - share_below > negligible_written_share) {
    missing.push_back(fmt::format("bandwidth.{}.copy.{}", level, to_string(scope)));
    return std::nullopt;
  }
  const double part = above ? (written - share_below) / (share_above - share_below) : 0;
  MemoryTime result = between(*below, above.value_or(*below), part, bytes);
  result.level = level;
  return result;
}

double sigma_of(const std::optional<Interval>& interval, double level) {
  if (!interval) return 0;
  // Student's t of very many degrees of freedom is the normal distribution.
  return (interval->hi - interval->lo) / (2 * student_t(level, 1e6));
}

std::optional<Input> input_of(const Machine& machine, const std::string& name, double elasticity) {
  const auto found = machine.parameters.find(name);
  if (found == machine.parameters.end() || !found->second.value) return std::nullopt;
  const Parameter& parameter = found->second;
  return Input{name, *parameter.value, sigma_of(parameter.interval, parameter.level), elasticity};
}

}  // namespace warpmeter
