// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// A roof: op/s (a horizontal line) or B/s (a diagonal).
struct RooflineCeiling {
  std::string name;  // machine parameter
  double value = 0;
  Unit unit = Unit::one;
  std::optional<Interval> interval;
};

struct RooflinePoint {
  std::string id;    // measurement
  std::string name;  // kernel
  std::string family;
  std::string type;
  double threads = 0;                // 0 if not stated
  double intensity = 0;              // op/B, compulsory bytes
  double ops_per_s = 0;              // measured
  std::optional<Interval> interval;  // of ops_per_s
  std::string bound;                 // as predicted, "" without a prediction
};

// Whole-device ceilings that have a value: throughput.fma.*.device.sustained, throughput.mma.*
// .device, bandwidth.<level>.read.device. Points: usable kernel.time with operations and bytes; exp
// calls count as exp_as_f32_ops operations.
struct Roofline {
  std::vector<RooflineCeiling> ceilings;
  std::vector<RooflinePoint> points;
};
Roofline roofline_of(const Machine& machine, const Run& kernels);

}  // namespace warpmeter
