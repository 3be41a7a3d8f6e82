// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A simulated device behind CUPTI's functions for ranges: kernels with planted counts, passes that
// hold few counters, noise, calls that hang or fail.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/counter_plan.h"
#include "collectors/cupti_api.h"

namespace warpmeter {

struct FakeRanges {
  explicit FakeRanges(unsigned seed = 1) : random(seed) {}

  // Planted: expected counts of a kernel; each launch draws them with relative noise `noise`.
  std::map<std::string, std::map<std::string, double>> kernels;
  double noise = 0;
  double cycles_noise = 0;
  std::size_t counters_per_pass = 4;          // invariants included
  bool no_passes = false;                     // as a CUPTI whose structures differ says it
  std::map<std::string, CUptiResult> errors;  // by function, "Enable"
  std::vector<std::string> log;               // of calls
  std::map<std::string, std::pair<double, int>> truth;  // sums of what launches drew

  // A launch in the simulated context; `name` one of `kernels`.
  void launch(const std::string& name);

  // Blocks PopRange until release().
  void hang_in_pop() { hang = true; }
  void release();

  CuptiApi api();  // of this device: one at a time

  std::mt19937 random;
  bool hang = false, hanging = false;
  std::mutex mutex;
  std::condition_variable changed;
  // The session.
  std::vector<std::string> configured;
  std::vector<double> values;
  std::uint8_t* image = nullptr;
  std::size_t pass = 0, ranges = 0;
  bool started = false, pushed = false;
};

// A catalogue of metrics a, b, c, d (counters "sm__A.sum", ...), "ratio" = a / b and "same" =
// a / c; a plan with the given groups of it.
const Catalogue& small_catalogue();
CounterPlan small_plan(std::vector<std::vector<std::string>> groups);

}  // namespace warpmeter
