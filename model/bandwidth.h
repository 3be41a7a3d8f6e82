// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/work.h"
#include "model/machine.h"

namespace warpmeter {

// A calibrated number that a time depends on.
struct Input {
  std::string name;       // machine parameter, or "bandwidth.read/page=huge,threads=2@32768"
  double value = 0;       // in the unit of the parameter
  double sigma = 0;       // standard error of value, 0 if the machine gives no interval
  double elasticity = 0;  // d log(time) / d log(value)
};

// Which ceilings hold for a kernel: on a host one core or all cores; nothing between is calibrated.
enum class Scope { core, device };
std::string_view to_string(Scope scope);

// Null with the reason in `missing` if `parameters` say no thread count, or one between one core
// and all cores. Always `device` on a GPU.
std::optional<Scope> scope_of(const Machine& machine, const Parameters& parameters,
                              std::vector<std::string>& missing);

bool is_host(const Machine& machine);

// "l1", "l2", "l3" or "dram": the first level that holds `working_set` bytes, by capacity.<level>,
// else by the fact cache.<level>.size. A host's L1 and L2 count once for each thread. On a GPU L2
// is the first level whose content survives from one launch to the next.
std::string serving_level(const Machine& machine, double working_set, double threads);

// The memory time of one execution: bytes over the bandwidth of the level that serves them.
struct MemoryTime {
  std::string level;
  double time_s = 0;
  std::vector<Input> inputs;
};

// Bandwidth comes from the measured curves bandwidth.<mix> against footprint at work.working_set,
// with the kernel's threads (log-log interpolation); from bandwidth.<level>.<mix>.<scope> if the
// machine has no such curve, if the working set is beyond the curve, or for residency "cold", which
// DRAM serves. Mixes are read, triad, copy and write, that is 0, 1/3, 1/2 and all bytes written;
// between two of them the time per byte is interpolated in the written share. Below 5 % written the
// read bandwidth alone will do. Null with the names of what is missing otherwise.
std::optional<MemoryTime> memory_time(const Machine& machine, const Work& work,
                                      const Parameters& parameters, Scope scope,
                                      std::vector<std::string>& missing);

// Standard error behind an interval at `level`; 0 if there is none.
double sigma_of(const std::optional<Interval>& interval, double level);

// The parameter as an input; null if it has no value.
std::optional<Input> input_of(const Machine& machine, const std::string& name, double elasticity);

}  // namespace warpmeter
