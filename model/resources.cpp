// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/resources.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpmeter {
namespace {

bool on_tensor_pipe(const Machine& machine, const std::string& type, const Parameters& parameters) {
  if (is_host(machine) || type == "f32" || type == "f64") return false;
  const std::string family = word(parameters, "family").value_or("");
  return family.starts_with("gemm") || family.starts_with("attention");
}

// Adds `count` operations at the ceiling `name` to the resource `resource`.
void add_operations(Demand& demand, const Machine& machine, const std::string& resource,
                    const std::string& name, double count) {
  std::optional<Input> ceiling = input_of(machine, name, 0);
  if (!ceiling) {
    demand.missing.push_back(name);
    return;
  }
  auto found = std::find_if(demand.resources.begin(), demand.resources.end(),
                            [&](const Resource& item) { return item.name == resource; });
  if (found == demand.resources.end()) {
    demand.resources.push_back({resource, 0, {}});
    found = demand.resources.end() - 1;
  }
  // Elasticities are shares of the resource's time: those of earlier operations shrink.
  const double time = count / ceiling->value;
  const double total = found->time_s + time;
  for (Input& input : found->inputs) input.elasticity *= found->time_s / total;
  ceiling->elasticity = -time / total;
  found->time_s = total;
  found->inputs.push_back(*std::move(ceiling));
}

void add_compute(Demand& demand, const Machine& machine, const Work& work,
                 const Parameters& parameters, Scope scope) {
  const bool host = is_host(machine);
  const std::string f32_peak = fmt::format("throughput.fma.f32.{}.sustained", to_string(scope));
  for (const auto& [type, count] : work.ops) {
    if (count <= 0) continue;
    if (type == "exp") {
      const std::string own = fmt::format("throughput.exp.{}", to_string(scope));
      const bool known = value_of(machine, own).has_value();
      add_operations(demand, machine, host ? "compute" : "exp", known ? own : f32_peak,
                     known ? count : count * exp_as_f32_ops(machine));
    } else if (on_tensor_pipe(machine, type, parameters)) {
      add_operations(demand, machine, "tensor", fmt::format("throughput.mma.{}.device", type),
                     count);
    } else {
      add_operations(demand, machine, host ? "compute" : "fma",
                     fmt::format("throughput.fma.{}.{}.sustained", type, to_string(scope)), count);
    }
  }
}

// One thread alone opens no parallel region, so that there is nothing to launch.
void add_launch(Demand& demand, const Machine& machine, const Work& work,
                const Parameters& parameters) {
  demand.launches = work.launches;
  if (is_host(machine) && number(parameters, "threads") == 1) return;
  const std::string name = is_host(machine) ? "launch.fork_join" : "launch.stream";
  if (const std::optional<Input> input = input_of(machine, name, 1)) {
    demand.launch_s = input->value;
    demand.inputs.push_back(*input);
  } else {
    demand.missing.push_back(name);
  }
}

}  // namespace

double exp_as_f32_ops(const Machine& machine) { return is_host(machine) ? 40 : 16; }

Demand demand_of(const Machine& machine, const Work& work, const Parameters& parameters) {
  Demand demand;
  const std::optional<Scope> scope = scope_of(machine, parameters, demand.missing);
  if (!scope) return demand;
  add_compute(demand, machine, work, parameters, *scope);
  if (const std::optional<MemoryTime> memory =
          memory_time(machine, work, parameters, *scope, demand.missing);
      memory && memory->time_s > 0) {
    demand.resources.push_back({"memory." + memory->level, memory->time_s, memory->inputs});
  }
  add_launch(demand, machine, work, parameters);
  return demand;
}

}  // namespace warpmeter
