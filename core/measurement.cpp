// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/measurement.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 9> verdict_names = {{
    {Verdict::ok, "ok"},
    {Verdict::ramping, "ramping"},
    {Verdict::throttled, "throttled"},
    {Verdict::contaminated, "contaminated"},
    {Verdict::multimodal, "multimodal"},
    {Verdict::above_limit, "above_limit"},
    {Verdict::unstable, "unstable"},
    {Verdict::unsupported, "unsupported"},
    {Verdict::failed, "failed"},
}};

std::string shortest(double value) {
  std::array<char, 32> text;
  // Whole numbers below 10^15 are written out: a footprint reads 1073741824 and
  // not 1.073741824e+09.
  const bool whole =
      value == static_cast<double>(static_cast<long long>(value)) && value < 1e15 && value > -1e15;
  const auto end =
      whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<long long>(value))
            : std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

std::vector<double> numbers(const Json& list, std::string_view where) {
  if (!list.is_array()) throw InputError(fmt::format("{}: a list of numbers was expected", where));
  std::vector<double> values;
  values.reserve(list.size());
  for (const Json& item : list) {
    if (!item.is_number()) throw InputError(fmt::format("{}: a sample is not a number", where));
    values.push_back(item.get<double>());
  }
  return values;
}

void read_value(const Json& object, Measurement& measurement, std::string_view where) {
  const Json& value = require(object, "value", where);
  if (!value.is_null()) measurement.value = require_number(object, "value", where);
  const Json& interval = require(object, "interval", where);
  if (!interval.is_null()) {
    const std::vector<double> ends = numbers(interval, fmt::format("{}: interval", where));
    if (ends.size() != 2 || ends[0] > ends[1]) {
      throw InputError(fmt::format("{}: \"interval\" must be [low, high] or null", where));
    }
    measurement.interval = Interval{ends[0], ends[1]};
  }
  measurement.level = require_number(object, "level", where);
  if (measurement.level <= 0 || measurement.level >= 1) {
    throw InputError(fmt::format("{}: \"level\" must lie between 0 and 1", where));
  }
  if (!measurement.value && measurement.reason.empty()) {
    throw InputError(fmt::format("{}: the value is null and \"reason\" does not say why", where));
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  for (const auto& [known, name] : verdict_names) {
    if (known == verdict) return name;
  }
  throw std::logic_error("verdict without a name");
}

Verdict parse_verdict(std::string_view text) {
  for (const auto& [verdict, name] : verdict_names) {
    if (name == text) return verdict;
  }
  throw InputError(fmt::format("unknown verdict \"{}\"", text));
}

bool usable(Verdict verdict) { return verdict == Verdict::ok || verdict == Verdict::multimodal; }

std::string to_string(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (!text.empty()) text += ',';
    text += name + '=';
    text += std::holds_alternative<double>(value) ? shortest(std::get<double>(value))
                                                  : std::get<std::string>(value);
  }
  return text;
}

Json to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  }
  return object;
}

Parameters parameters_from_json(const Json& object, std::string_view where) {
  if (!object.is_object())
    throw InputError(fmt::format("{}: \"parameters\" must be an object", where));
  Parameters parameters;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) {
      parameters[name] = value.get<double>();
    } else if (value.is_string()) {
      parameters[name] = value.get<std::string>();
    } else {
      throw InputError(
          fmt::format("{}: parameter \"{}\" must be a number or a string", where, name));
    }
  }
  return parameters;
}

std::optional<double> number(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end() || !std::holds_alternative<double>(found->second))
    return std::nullopt;
  return std::get<double>(found->second);
}

std::optional<std::string> word(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end() || !std::holds_alternative<std::string>(found->second))
    return std::nullopt;
  return std::get<std::string>(found->second);
}

std::string measurement_id(std::string_view quantity, const Parameters& parameters) {
  const std::string settings = to_string(parameters);
  return settings.empty() ? std::string(quantity) : fmt::format("{}/{}", quantity, settings);
}

Json to_json(const Measurement& measurement) {
  Json object;
  object["id"] = measurement.id;
  object["quantity"] = measurement.quantity;
  object["parameters"] = to_json(measurement.parameters);
  object["value"] = measurement.value ? Json(*measurement.value) : Json();
  object["unit"] = to_string(measurement.unit);
  object["interval"] = measurement.interval
                           ? Json::array({measurement.interval->lo, measurement.interval->hi})
                           : Json();
  object["level"] = measurement.level;
  object["samples"] = measurement.samples;
  object["conditions"] = measurement.conditions;
  object["verdict"] = to_string(measurement.verdict);
  object["reason"] = measurement.reason;
  object["method"] = measurement.method;
  object["evidence"] = measurement.evidence;
  if (measurement.work) object["work"] = to_json(*measurement.work);
  return object;
}

Measurement measurement_from_json(const Json& object, std::string_view where) {
  Measurement measurement;
  measurement.id = require_string(object, "id", where);
  const std::string here = fmt::format("{}: {}", where, measurement.id);
  measurement.quantity = require_string(object, "quantity", here);
  measurement.parameters = parameters_from_json(require(object, "parameters", here), here);
  measurement.unit = parse_unit(require_string(object, "unit", here));
  measurement.verdict = parse_verdict(require_string(object, "verdict", here));
  measurement.reason = require_string(object, "reason", here);
  measurement.method = require_string(object, "method", here);
  read_value(object, measurement, here);
  const Json& campaigns = require(object, "samples", here);
  if (!campaigns.is_array()) throw InputError(fmt::format("{}: \"samples\" must be a list", here));
  for (const Json& campaign : campaigns) measurement.samples.push_back(numbers(campaign, here));
  measurement.conditions = require(object, "conditions", here);
  measurement.evidence = require(object, "evidence", here);
  if (object.contains("work")) measurement.work = work_from_json(object.at("work"), here);
  return measurement;
}

}  // namespace warpmeter
