// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/measurement.h"
#include "cuda/pace.h"

namespace warpmeter {

// How a computing case is run. Scope "sm": one block on one SM; "device": one block per SM. Phase
// "burst": one short launch after a rest; "sustained": a longer one after heating under the same
// load, when power and temperature have settled.
struct Load {
  bool operator==(const Load&) const = default;
  std::string scope = "device";
  std::string phase = "burst";

  bool sustained() const { return phase == "sustained"; }
  double floor_s(const Pace& pace) const { return sustained() ? pace.sustained_s : pace.sample_s; }
};

Load load_of(const Parameters& parameters);

// Puts the device into the phase: rests, or keeps it busy with `run` (which waits) for long before
// the first sample and shortly before each later one.
class Phase {
 public:
  Phase(const Load& load, const Pace& pace) : load_(load), pace_(pace) {}
  void prepare(const std::function<void()>& run);

 private:
  Load load_;
  Pace pace_;
  bool heated_ = false;
};

}  // namespace warpmeter
