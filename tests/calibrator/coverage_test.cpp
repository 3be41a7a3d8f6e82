// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "calibrator/calibrate.h"
#include "tests/calibrator/synthetic.h"

namespace warpmeter::test {
namespace {

constexpr int machines = WARPMETER_SYNTHETIC_MACHINES;

struct Tally {
  int planted = 0;  // parameters with a known truth
  int known = 0;    // of these, with a value and an interval
  int held = 0;     // of these, with the truth inside the interval
  double relative_width = 0;
};

std::string class_of(const std::string& name) {
  if (name == "latency.tlb_miss") return "tlb";
  if (name.starts_with("bandwidth.dram.saturated") || name == "latency.dram.in_flight" ||
      name.starts_with("concurrency.")) {
    return "saturation";
  }
  if (name.starts_with("throughput.")) return "compute";
  return name.substr(0, name.find('.'));
}

void tally(const Synthetic& synthetic, std::map<std::string, Tally>& classes) {
  const Machine machine = calibrate({&synthetic.run, 1});
  for (const auto& [name, truth] : synthetic.truth) {
    Tally& entry = classes[class_of(name)];
    ++entry.planted;
    const auto found = machine.parameters.find(name);
    ASSERT_NE(found, machine.parameters.end()) << name;
    const Parameter& parameter = found->second;
    if (!parameter.value || !parameter.interval) continue;
    ++entry.known;
    entry.held += parameter.interval->lo <= truth && truth <= parameter.interval->hi;
    entry.relative_width += (parameter.interval->hi - parameter.interval->lo) / truth;
  }
}

TEST(Coverage, OfNinetyPercentIntervalsOverSyntheticMachines) {
  std::map<std::string, Tally> classes;
  for (int seed = 1; seed <= machines; ++seed) {
    tally(synthetic_host(static_cast<std::uint64_t>(seed)), classes);
    tally(synthetic_gpu(static_cast<std::uint64_t>(seed) + 1000000), classes);
  }
  fmt::print("{} synthetic hosts and GPUs each\n{:12} {:>8} {:>8} {:>9} {:>12}\n", machines,
             "class", "planted", "known", "held", "mean width");
  // With 40 machines (sanitizers) the binomial error of a class allows no better than this.
  const double lo = machines >= 500 ? 0.85 : 0.75;
  const double hi = machines >= 500 ? 0.95 : 1.0;
  for (const auto& [name, entry] : classes) {
    const double coverage = static_cast<double>(entry.held) / entry.known;
    fmt::print("{:12} {:8} {:8} {:7.1f} % {:10.2f} %\n", name, entry.planted, entry.known,
               100 * coverage, 100 * entry.relative_width / entry.known);
    EXPECT_GE(entry.known, 0.95 * entry.planted) << name;
    EXPECT_GE(coverage, lo) << name;
    // A knee's interval is a bracket between two measured footprints: it may hold more.
    if (name != "capacity") {
      EXPECT_LE(coverage, hi) << name;
    }
  }
  EXPECT_EQ(classes.size(), 8u);
}

}  // namespace
}  // namespace warpmeter::test
