// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/parameters.h"

namespace warpmeter {
namespace {

struct Kept {
  const char* quantity;
  const char* x_name;
  Unit x_unit;
};

constexpr Kept kept_curves[] = {
    {"latency.chase", "footprint", Unit::byte},        {"latency.loaded", "load", Unit::one},
    {"bandwidth.read", "footprint", Unit::byte},       {"bandwidth.write", "footprint", Unit::byte},
    {"bandwidth.copy", "footprint", Unit::byte},       {"bandwidth.triad", "footprint", Unit::byte},
    {"bandwidth.in_flight", "in_flight", Unit::byte},  {"transfer.time", "size", Unit::byte},
    {"latency.chase.cycles", "footprint", Unit::byte}, {"collective.time", "size", Unit::byte},
    {"collective.bus_bandwidth", "size", Unit::byte},
};

}  // namespace

void add_curves(const Run& run, Draft& draft) {
  for (const Kept& kept : kept_curves) {
    const Selection selection = select(run, kept.quantity);
    for (const Series& series : series_along(selection.usable, kept.x_name)) {
      if (series.points.size() < 2) continue;
      Curve curve;
      curve.quantity = kept.quantity;
      curve.parameters = series.fixed;
      curve.x_name = kept.x_name;
      curve.x_unit = kept.x_unit;
      curve.y_unit = series.points.front()->unit;
      for (const Measurement* point : series.points) {
        curve.points.push_back(
            {*number(point->parameters, kept.x_name), *point->value, point->interval});
      }
      curve.evidence = ids(series.points);
      draft.machine.curves.push_back(std::move(curve));
    }
  }
}

}  // namespace warpmeter
