// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/facts.h"
#include "core/measurement.h"
#include "core/run.h"

namespace warpmeter {

// How a parameter is known. "Not identifiable" (the data cannot tell) and "not measured" (no data)
// are answers with a reason.
// On the emulated GPU every value is `emulated`, computed ones too: none of them is hardware's.
enum class Status {
  measured,
  derived,
  emulated,
  published,
  borrowed,
  not_identifiable,
  not_measured
};

std::string_view to_string(Status status);
Status parse_status(std::string_view text);  // Throws InputError on any other text.

struct Parameter {
  std::optional<double> value;  // null exactly if status is not_identifiable or not_measured
  Unit unit = Unit::one;
  std::optional<Interval> interval;
  double level = default_level;
  Status status = Status::not_measured;
  std::string reason;  // why there is no value, or what to know about it
  std::string method;
  std::vector<std::string> evidence;  // measurement ids
  Json valid_range = Json::object();  // {"footprint": [lo, hi], ...}: where the value holds
  Json distribution;  // null, or {"modes": [...]} / {"quantiles": {"0.05": ...}} where hardware has
                      // one
};

// A measured curve that a scalar would misrepresent: bandwidth against footprint, transfer time
// against size.
struct CurvePoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;  // of y
};

struct Curve {
  std::string quantity;   // "bandwidth.read"
  Parameters parameters;  // the ones that are fixed along the curve
  std::string x_name;     // the parameter along the curve: "footprint", "size", "in_flight"
  Unit x_unit = Unit::byte;
  Unit y_unit = Unit::one;
  std::vector<CurvePoint> points;  // by rising x
  std::vector<std::string> evidence;
};

// Of the estimates in `names` (rows and columns of `matrix`, product of their units). Empty if
// nothing is known.
struct Covariance {
  std::vector<std::string> names;
  std::vector<std::vector<double>> matrix;
};

// A machine document, schema warpmeter.machine/1 (results/schema/machine.schema.json).
struct Machine {
  Source source = Source::measured;
  std::string device;
  Facts facts;
  Json tool = Json::object();
  Json inputs = Json::array();  // [{file, source, device, utc_time, measurements}]
  std::map<std::string, Parameter> parameters;
  Covariance covariance;
  std::vector<Curve> curves;
};

inline constexpr std::string_view machine_schema = "warpmeter.machine/1";

Json to_json(const Machine& machine);
Machine machine_from_json(const Json& document, std::string_view where);
Machine load_machine(const std::filesystem::path& file);
void save_machine(const std::filesystem::path& file, const Machine& machine);

// The value of a parameter, null if it has none or does not exist.
std::optional<double> value_of(const Machine& machine, const std::string& name);

}  // namespace warpmeter
