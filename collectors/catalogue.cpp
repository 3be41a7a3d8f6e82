// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"

namespace warpmeter {

extern const char* const catalogue_text;  // generated from catalogue.json

namespace {

constexpr std::string_view schema = "warpmeter.metric_catalogue/1";
constexpr std::pair<std::string_view, CounterScope> scopes[] = {
    {"any", CounterScope::any},
    {"context", CounterScope::context},
    {"device", CounterScope::device},
    {"instrumented", CounterScope::instrumented}};

template <typename Range>
bool contains(const Range& range, std::string_view value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

std::vector<std::string> strings(const Json& object, const char* key, const std::string& where) {
  const Json& list = require(object, key, where);
  if (!list.is_array()) throw InputError(fmt::format("{}: \"{}\" is not a list", where, key));
  std::vector<std::string> out;
  for (const Json& item : list) {
    if (!item.is_string())
      throw InputError(fmt::format("{}: \"{}\" holds something else than text", where, key));
    out.push_back(item.get<std::string>());
    if (std::count(out.begin(), out.end(), out.back()) > 1)
      throw InputError(fmt::format("{}: \"{}\" holds \"{}\" twice", where, key, out.back()));
  }
  return out;
}

CounterScope parse_scope(const std::string& text, const std::string& where) {
  for (const auto& [name, scope] : scopes)
    if (name == text) return scope;
  throw InputError(fmt::format("{}: unknown scope \"{}\"; use any, context, device or instrumented",
                               where, text));
}

// CUPTI takes a counter only with one of these.
bool has_roll_up(const std::string& name) {
  const auto dot = name.find('.', name.find("__"));
  if (name.find("__") == std::string::npos || dot == std::string::npos) return false;
  const std::string roll_up = name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
  return contains(std::vector<std::string>{"sum", "avg", "min", "max", "ratio", "pct"}, roll_up);
}

void check_keys(const Json& object, const std::string& where) {
  static const std::vector<std::string> known = {"id",    "unit",  "scale",   "scope",
                                                 "means", "names", "formula", "sets"};
  for (const auto& [key, value] : object.items())
    if (!contains(known, key)) throw InputError(fmt::format("{}: unknown key \"{}\"", where, key));
}

void read_sources(const Json& object, const std::string& where, LogicalMetric& metric) {
  if (object.contains("names")) {
    metric.names = strings(object, "names", where);
    metric.scope = parse_scope(require_string(object, "scope", where), where);
  } else if (object.contains("scope")) {
    throw InputError(where + ": a scope belongs to names, and it has none");
  }
  for (const std::string& name : metric.names) {
    if (!has_roll_up(name))
      throw InputError(fmt::format("{}: \"{}\" lacks a roll-up such as .sum", where, name));
  }
  if (object.contains("formula"))
    metric.formula = Formula::parse(require_string(object, "formula", where));
  if (metric.names.empty() && !metric.formula)
    throw InputError(where + ": it has neither names nor a formula");
}

LogicalMetric read_metric(const Json& object, const std::string& in) {
  LogicalMetric metric{};
  metric.id = require_string(object, "id", in);
  const std::string where = in + ", metric " + metric.id;
  check_keys(object, where);
  try {
    metric.unit = parse_unit(require_string(object, "unit", where));
    metric.scale = object.contains("scale") ? require_number(object, "scale", where) : 1;
    if (!(metric.scale > 0)) throw InputError("\"scale\" must be above 0");
    read_sources(object, where, metric);
  } catch (const InputError& error) {
    const std::string text = error.what();
    throw InputError(text.rfind(where, 0) == 0 ? text : where + ": " + text);
  }
  metric.means = require_string(object, "means", where);
  metric.sets = strings(object, "sets", where);
  for (const std::string& set : metric.sets) {
    if (!contains(metric_sets(), set))
      throw InputError(fmt::format("{}: unknown set \"{}\"; the sets are {}", where, set,
                                   fmt::join(metric_sets(), ", ")));
  }
  return metric;
}

// Walks down the formulas from `metric`; `path` holds the ids above it.
void check_formula(const Catalogue& catalogue, const LogicalMetric& metric,
                   std::vector<std::string>& path, std::string_view where) {
  if (!metric.formula) return;
  path.push_back(metric.id);
  for (const std::string& input : metric.formula->inputs()) {
    const LogicalMetric* next = catalogue.find(input);
    if (next == nullptr)
      throw InputError(
          fmt::format("{}, metric {}: its formula uses \"{}\", which is not in the catalogue",
                      where, metric.id, input));
    if (contains(path, input))
      throw InputError(fmt::format("{}, metric {}: its formula leads back to itself over {}", where,
                                   input, metric.id));
    check_formula(catalogue, *next, path, where);
  }
  path.pop_back();
}

}  // namespace

std::string_view to_string(CounterScope scope) {
  for (const auto& [name, value] : scopes)
    if (value == scope) return name;
  return "?";
}

bool LogicalMetric::in(std::string_view set) const { return contains(sets, set); }

const std::vector<std::string>& metric_sets() {
  static const std::vector<std::string> sets = {"diagnose", "tensor", "memory", "links", "stalls"};
  return sets;
}

Catalogue Catalogue::read(const Json& document, std::string_view where) {
  const std::string in(where);
  if (const std::string found = require_string(document, "schema", where); found != schema)
    throw InputError(fmt::format("{}: schema \"{}\"; a {} is needed", where, found, schema));
  const Json& list = require(document, "metrics", where);
  if (!list.is_array()) throw InputError(in + ": \"metrics\" is not a list");
  Catalogue catalogue;
  std::set<std::string> ids, names;
  for (const Json& object : list) {
    LogicalMetric metric = read_metric(object, in);
    if (!ids.insert(metric.id).second)
      throw InputError(fmt::format("{}: metric {} is there twice", where, metric.id));
    for (const std::string& name : metric.names) {
      if (!names.insert(name).second)
        throw InputError(fmt::format("{}, metric {}: another metric has the name \"{}\" too", where,
                                     metric.id, name));
    }
    catalogue.metrics_.push_back(std::move(metric));
  }
  std::vector<std::string> path;
  for (const LogicalMetric& metric : catalogue.metrics_)
    check_formula(catalogue, metric, path, where);
  return catalogue;
}

const Catalogue& Catalogue::built_in() {
  static const Catalogue catalogue = read(Json::parse(catalogue_text), "collectors/catalogue.json");
  return catalogue;
}

const LogicalMetric* Catalogue::find(std::string_view id) const {
  for (const LogicalMetric& metric : metrics_)
    if (metric.id == id) return &metric;
  return nullptr;
}

std::vector<const LogicalMetric*> Catalogue::of_set(std::string_view set) const {
  if (!contains(metric_sets(), set))
    throw InputError(
        fmt::format("unknown set \"{}\"; use {}", set, fmt::join(metric_sets(), ", ")));
  std::vector<const LogicalMetric*> out;
  for (const LogicalMetric& metric : metrics_)
    if (metric.in(set)) out.push_back(&metric);
  return out;
}

}  // namespace warpmeter
