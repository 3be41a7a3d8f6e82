// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string>

#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// A host of two cores with round numbers: f32 100 Gop/s per core (200 both), bf16 400 both, f64 50
// both; read bandwidth 1000 GB/s up to 64 KiB, 100 GB/s up to 4 MiB, 20 GB/s beyond (both cores;
// one core half of it), copy half as fast, triad 3/4; fork_join 2 us. No interval anywhere.
Machine planted_machine();

// Sets what fit_overlap would: p, then overhead (s) and share of one family.
void set_overlap(Machine& machine, double p);
void set_overhead(Machine& machine, const std::string& family, double overhead_s, double share);

Parameter known(double value, Unit unit);
Parameter known(double value, Unit unit, Interval interval);

// Parameters of a hot two-thread kernel of `family`.
Parameters kernel_parameters(const std::string& family, const std::string& split = "fit");

// A kernel.time row; `shape` becomes the parameter m.
Measurement kernel_row(const std::string& family, const std::string& split, double shape,
                       double time_s, const Work& work);

}  // namespace warpmeter
