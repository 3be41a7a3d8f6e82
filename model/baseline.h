// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/run.h"
#include "core/work.h"
#include "model/machine.h"

namespace warpmeter {

// What a data sheet promises: the two predictors that a model must beat are this one and the mean.
struct Nameplate {
  std::map<std::string, double> peak;  // op/s by type; on a host of one core
  double cores = 1;                    // 1 on a GPU, whose peak is of the whole device
  std::optional<double> bandwidth;     // DRAM, B/s
  std::vector<std::string> notes;      // where each number comes from, and what stands in for what
};

// On a GPU from the facts peak.<type> and peak.<type>.tensor (op/s; the higher one counts)
// and memory.bandwidth (B/s). On a host: clock x operations per cycle of the widest unit
// that the facts cpu.isa.* name; the clock is the one in cpu.model ("@ 2.30GHz"), else the measured
// clock.core.vector. Memory channels are not visible in a virtual machine, so that the best
// measured DRAM bandwidth stands in for nameplate unless the fact memory.bandwidth exists.
// What stands in is said in notes; what is unknown is absent.
Nameplate nameplate_of(const Machine& machine);

// Nameplate roofline, s: the larger of operations over peak (exponentials are free, types add up)
// and compulsory bytes over DRAM bandwidth. `threads` cores work on a host. Null if a peak that the
// work needs, or the bandwidth, is unknown.
std::optional<double> roofline_time(const Nameplate& nameplate, const Work& work,
                                    const Parameters& parameters);

// Predict-the-mean, s: for each family the geometric mean of the times of its fitting rows
// (kernel.time, split=fit, usable verdict), all shapes, threads, types and residencies together.
std::map<std::string, double> mean_times(const Run& kernels);

}  // namespace warpmeter
