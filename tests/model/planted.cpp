// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

void add_curve(Machine& machine, const std::string& mix, double threads, double factor) {
  Curve curve;
  curve.quantity = "bandwidth." + mix;
  curve.parameters = {{"threads", threads}, {"page", std::string("huge")}};
  curve.x_name = "footprint";
  curve.y_unit = Unit::byte_per_second;
  const double scale = factor * threads / 2;
  curve.points = {{4096, 1000e9 * scale, {}},  {65536, 1000e9 * scale, {}},
                  {65537, 100e9 * scale, {}},  {4194304, 100e9 * scale, {}},
                  {4194305, 20e9 * scale, {}}, {1073741824, 20e9 * scale, {}}};
  machine.curves.push_back(std::move(curve));
}

}  // namespace

Parameter known(double value, Unit unit) {
  Parameter parameter;
  parameter.value = value;
  parameter.unit = unit;
  parameter.status = Status::measured;
  return parameter;
}

Parameter known(double value, Unit unit, Interval interval) {
  Parameter parameter = known(value, unit);
  parameter.interval = interval;
  return parameter;
}

Machine planted_machine() {
  Machine machine;
  machine.device = "cpu";
  machine.facts["cpu.cores"] = {2, Unit::one, "planted"};
  for (const auto& [type, peak] :
       std::map<std::string, double>{{"f32", 200e9}, {"bf16", 400e9}, {"f64", 50e9}}) {
    machine.parameters["throughput.fma." + type + ".device.sustained"] =
        known(peak, Unit::op_per_second);
    machine.parameters["throughput.fma." + type + ".core.sustained"] =
        known(peak / 2, Unit::op_per_second);
  }
  for (const auto& [mix, factor] :
       std::map<std::string, double>{{"read", 1.0}, {"triad", 0.75}, {"copy", 0.5}}) {
    for (const double threads : {1.0, 2.0}) add_curve(machine, mix, threads, factor);
    machine.parameters["bandwidth.dram." + mix + ".device"] =
        known(20e9 * factor, Unit::byte_per_second);
    machine.parameters["bandwidth.dram." + mix + ".core"] =
        known(10e9 * factor, Unit::byte_per_second);
  }
  machine.parameters["capacity.l1"] = known(32768, Unit::byte);
  machine.parameters["capacity.l2"] = known(2097152, Unit::byte);
  machine.parameters["launch.fork_join"] = known(2e-6, Unit::second);
  return machine;
}

void set_overlap(Machine& machine, double p) {
  machine.parameters["model.overlap"] = known(p, Unit::one);
}

void set_overhead(Machine& machine, const std::string& family, double overhead_s, double share) {
  machine.parameters["model.overhead." + family] = known(overhead_s, Unit::second);
  machine.parameters["model.overhead." + family + ".share"] = known(share, Unit::one);
}

Parameters kernel_parameters(const std::string& family, const std::string& split) {
  return {{"family", family},
          {"kernel", family},
          {"type", std::string("f32")},
          {"threads", 2.0},
          {"split", split},
          {"residency", std::string("hot")},
          {"model", std::string("planted")}};
}

Measurement kernel_row(const std::string& family, const std::string& split, double shape,
                       double time_s, const Work& work) {
  Measurement row;
  row.quantity = "kernel.time";
  row.parameters = kernel_parameters(family, split);
  row.parameters["m"] = shape;
  row.id = measurement_id(row.quantity, row.parameters);
  row.value = time_s;
  row.unit = Unit::second;
  row.work = work;
  return row;
}

}  // namespace warpmeter
