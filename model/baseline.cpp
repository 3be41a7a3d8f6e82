// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/unit.h"

namespace warpmeter {
namespace {

bool has(const Machine& machine, const std::string& isa) {
  const auto found = machine.facts.find("cpu.isa." + isa);
  return found != machine.facts.end() && found->second.value.is_boolean() &&
         found->second.value.get<bool>();
}

// Operations per cycle of one core: lanes x 2 operations x 2 units, as on Intel's servers since
// Skylake-SP and AMD's since Zen 2 (avx2) or Zen 5 (avx512). AVX512_BF16 and VNNI do two and four
// times the multiply-adds of f32; AMX 16 x 16 x 32 (bf16: 16) products in 16 cycles (Intel
// Optimization Reference Manual, chapter on AMX).
std::map<std::string, double> ops_per_cycle(const Machine& machine) {
  std::map<std::string, double> result;
  if (!has(machine, "fma")) return result;
  const double lanes = has(machine, "avx512f") ? 16 : 8;
  result["f32"] = lanes * 4;
  result["f64"] = lanes * 2;
  if (has(machine, "avx512_bf16")) result["bf16"] = lanes * 8;
  if (has(machine, "avx512_vnni")) result["int8"] = lanes * 16;
  if (has(machine, "amx")) result["bf16"] = 1024;
  if (has(machine, "amx")) result["int8"] = 2048;
  return result;
}

// The "2.30GHz" of "Xeon(R) Gold 6140 CPU @ 2.30GHz", in Hz.
std::optional<double> clock_in_name(const std::string& model) {
  const std::size_t at = model.rfind("@ ");
  if (at == std::string::npos || model.find("GHz", at) == std::string::npos) return std::nullopt;
  const double ghz = std::strtod(model.c_str() + at + 2, nullptr);
  return ghz > 0 ? std::optional(ghz * 1e9) : std::nullopt;
}

void add_host_peaks(Nameplate& plate, const Machine& machine) {
  std::optional<double> clock = clock_in_name(fact_text(machine.facts, "cpu.model"));
  std::string source = "nominal clock in cpu.model";
  if (!clock) {
    clock = value_of(machine, "clock.core.vector");
    source = "measured clock.core.vector, as the facts name no clock";
  }
  const std::optional<double> cores = fact_number(machine.facts, "cpu.cores");
  if (!clock || !cores) {
    plate.notes.push_back("no peak: the facts give no clock or no number of cores");
    return;
  }
  plate.cores = *cores;
  for (const auto& [type, per_cycle] : ops_per_cycle(machine)) {
    plate.peak[type] = per_cycle * *clock;
  }
  plate.notes.push_back(
      fmt::format("peak: {} cores x {} ({}) x operations per cycle of two full-width multiply-add "
                  "units",
                  *cores, format_si(*clock, Unit::hertz), source));
}

// "peak.bf16" and "peak.bf16.tensor" are of the same type: the higher one counts.
void add_gpu_peaks(Nameplate& plate, const Machine& machine) {
  const std::string prefix = "peak.", tensor = ".tensor";
  for (const auto& [name, fact] : machine.facts) {
    const std::optional<double> value = fact_number(machine.facts, name);
    if (!name.starts_with(prefix) || !value) continue;
    std::string type = name.substr(prefix.size());
    if (type.ends_with(tensor)) type.resize(type.size() - tensor.size());
    plate.peak[type] = std::max(plate.peak[type], *value);
    plate.notes.push_back(fmt::format("{}: {}", name, fact.source));
  }
}

void add_bandwidth(Nameplate& plate, const Machine& machine) {
  plate.bandwidth = fact_number(machine.facts, "memory.bandwidth");
  if (plate.bandwidth) {
    plate.notes.push_back("DRAM bandwidth: nameplate, " +
                          machine.facts.at("memory.bandwidth").source);
    return;
  }
  std::string best;
  for (const std::string mix : {"read", "write", "copy", "triad"}) {
    const std::string name = fmt::format("bandwidth.dram.{}.device", mix);
    const std::optional<double> value = value_of(machine, name);
    if (!value || *value <= plate.bandwidth.value_or(0)) continue;
    plate.bandwidth = value;
    best = name;
  }
  plate.notes.push_back(best.empty()
                            ? "no DRAM bandwidth: neither nameplate nor measured"
                            : fmt::format("DRAM bandwidth: measured {} stands in for nameplate, as "
                                          "the facts name no memory channels",
                                          best));
}

}  // namespace

Nameplate nameplate_of(const Machine& machine) {
  Nameplate plate;
  if (machine.device == "cpu") {
    add_host_peaks(plate, machine);
  } else {
    add_gpu_peaks(plate, machine);
  }
  add_bandwidth(plate, machine);
  return plate;
}

std::optional<double> roofline_time(const Nameplate& nameplate, const Work& work,
                                    const Parameters& parameters) {
  const double cores = std::min(number(parameters, "threads").value_or(1), nameplate.cores);
  double compute = 0;
  for (const auto& [type, count] : work.ops) {
    if (type == "exp" || count <= 0) continue;
    const auto peak = nameplate.peak.find(type);
    if (peak == nameplate.peak.end() || peak->second <= 0) return std::nullopt;
    compute += count / (peak->second * cores);
  }
  const double bytes = work.bytes_read + work.bytes_written;
  if (!nameplate.bandwidth) return std::nullopt;
  return std::max(compute, bytes / *nameplate.bandwidth);
}

std::map<std::string, double> mean_times(const Run& kernels) {
  std::map<std::string, std::pair<double, double>> logs;  // sum, count
  for (const Measurement* m : with_quantity(kernels, "kernel.time")) {
    if (word(m->parameters, "split") != "fit" || !usable(m->verdict) || !m->value) continue;
    if (!(*m->value > 0)) continue;
    auto& [sum, count] = logs[word(m->parameters, "family").value_or("")];
    sum += std::log(*m->value);
    count += 1;
  }
  std::map<std::string, double> means;
  for (const auto& [family, log] : logs) means[family] = std::exp(log.first / log.second);
  return means;
}

}  // namespace warpmeter
