// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/interval.h"
#include "core/json.h"
#include "core/unit.h"
#include "core/work.h"

namespace warpmeter {

// What can be said of a number. A number with a bad verdict is kept and marked, never dropped,
// never silently used.
enum class Verdict {
  ok,
  ramping,
  throttled,
  contaminated,
  multimodal,
  above_limit,
  unstable,
  unsupported,
  failed
};

std::string_view to_string(Verdict verdict);
Verdict parse_verdict(std::string_view text);  // Throws InputError on any other text.

// True if the value may enter a calibration: ok, or multimodal (whose modes are kept as a
// distribution).
bool usable(Verdict verdict);

// The settings of one point of a sweep: a number (SI base unit, named in docs/quantities.md) or a
// word.
using Scalar = std::variant<double, std::string>;
using Parameters = std::map<std::string, Scalar>;

// "footprint=32768,page=huge": keys in order, numbers in the shortest exact form. Empty for no
// parameters.
std::string to_string(const Parameters& parameters);
Json to_json(const Parameters& parameters);
Parameters parameters_from_json(const Json& object, std::string_view where);

// Null where the parameter is absent or of the other kind.
std::optional<double> number(const Parameters& parameters, const std::string& name);
std::optional<std::string> word(const Parameters& parameters, const std::string& name);

// One quantity at one point: the value with its interval over independent campaigns, and everything
// needed to judge it.
struct Measurement {
  std::string id;        // unique in its run: measurement_id(quantity, parameters)
  std::string quantity;  // dotted name, docs/quantities.md
  Parameters parameters;
  std::optional<double> value;  // median over campaigns of each campaign's median; null with a
                                // reason if there is none
  Unit unit = Unit::one;
  std::optional<Interval> interval;  // of the value, at `level`; null if there are too few
                                     // campaigns, then `reason` says so
  double level = default_level;
  std::vector<std::vector<double>> samples;  // raw samples in `unit`, one list per campaign
  Json conditions = Json::object();  // clocks, load, temperature, what was seen while measuring
  Verdict verdict = Verdict::ok;
  std::string reason;  // why the verdict is not ok or the value is null; else empty
  std::string method;  // one sentence: how the number is obtained
  Json evidence =
      Json::array();  // ids of other measurements, or sources: {title, where, kind, trust, note}
  std::optional<Work>
      work;  // of a kernel: operations and bytes, so that a model can predict its time
};

std::string measurement_id(std::string_view quantity, const Parameters& parameters);

Json to_json(const Measurement& measurement);
Measurement measurement_from_json(const Json& object, std::string_view where);

}  // namespace warpmeter
