// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "profiler/deconvolution.h"

namespace warpmeter {

// A device that runs a pattern of launches again and again, and is sampled: with truth.
struct PmWorld {
  int groups = 12;
  int pattern = 30;                            // launches in the pattern
  int repeats = 60;                            // of the pattern
  double shortest_ns = 2e3, longest_ns = 5e6;  // mean durations, spread evenly over the logarithm
  double gap_ns = 5e3;                         // mean, exponential; 0: back to back
  double duration_cv = 0.05, count_cv = 0.05;  // of launches of a group
  double idle_rate = 1e-4;                     // per ns; groups' rates are between 0.01 and 1
  double interval_ns = 5e4;
  double jitter_ns = 150;  // of each boundary, normal
  double offset_ns = 150;  // of the clocks, normal, one for all
  double noise = 0.002;    // of each sample, relative
  double dropped = 0.01;   // share of samples not counted
  bool shuffle = true;     // the order differs between repeats
  // The same again and again: one gap, always as long, before each repeat.
  bool steady = false;
};

struct PmRecording {
  std::vector<KernelSpan> kernels;
  std::vector<std::int64_t> times;
  SampleSeries counts, levels;
  double offset_ns = 0;                          // of the launches' clock
  std::vector<double> count_truth, level_truth;  // of the groups: expected, of a launch
};

PmRecording simulate(const PmWorld& world, unsigned seed);

}  // namespace warpmeter
