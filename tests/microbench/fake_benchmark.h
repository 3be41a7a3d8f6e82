// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>

#include "core/benchmark.h"

namespace warpmeter {

// A row whose samples come from a function, so that the runner's logic is tested without measuring
// anything.
class FakeCase : public Case {
 public:
  explicit FakeCase(std::function<double()> next) : next_(std::move(next)) {}
  Sample sample() override { return {next_(), 1e-3}; }
  Json conditions() const override { return Json{{"clock_hz", 3e9}}; }

 private:
  std::function<double()> next_;
};

inline Benchmark fake_row(const std::string& id, int points, std::function<double()> next) {
  Benchmark row;
  row.id = row.quantity = id;
  row.unit = Unit::second;
  row.method = "made up";
  row.points = [points](const Device&, Effort) {
    std::vector<Parameters> list;
    for (int i = 0; i < points; ++i) list.push_back({{"point", static_cast<double>(i)}});
    return list;
  };
  row.make = [next](const Device&, const Parameters&) { return std::make_unique<FakeCase>(next); };
  return row;
}

}  // namespace warpmeter
