// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Reading is strict: each rule of results/schema/machine.schema.json is checked here too, and those
// that a schema cannot express (a covariance is symmetric and positive semidefinite, a curve rises
// in x).
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <set>

#include "core/error.h"
#include "model/machine.h"

namespace warpmeter {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view what) {
  throw InputError(fmt::format("{}: {}", where, what));
}

// Runs a parser of one word and puts `where` before its complaint.
template <class Parser>
auto parsed(Parser parser, const std::string& text, std::string_view where) {
  try {
    return parser(text);
  } catch (const InputError& error) {
    refuse(where, error.what());
  }
}

const Json& require_array(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require(object, key, where);
  if (!value.is_array()) refuse(where, fmt::format("\"{}\" must be an array", key));
  return value;
}

const Json& require_object(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require(object, key, where);
  if (!value.is_object()) refuse(where, fmt::format("\"{}\" must be an object", key));
  return value;
}

void refuse_unknown_keys(const Json& object, std::initializer_list<std::string_view> known,
                         std::string_view where) {
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const std::string_view name : known) found = found || name == key;
    if (!found) refuse(where, fmt::format("unknown key \"{}\"", key));
  }
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->lo, interval->hi}) : Json();
}

std::optional<Interval> read_interval(const Json& object, std::string_view where) {
  const Json& pair = require(object, "interval", where);
  if (pair.is_null()) return std::nullopt;
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
    refuse(where, "\"interval\" must be null or two numbers");
  }
  const Interval interval{pair[0].get<double>(), pair[1].get<double>()};
  if (!(interval.lo <= interval.hi)) refuse(where, "\"interval\" must have its lower end first");
  return interval;
}

std::vector<std::string> read_strings(const Json& object, std::string_view key,
                                      std::string_view where) {
  std::vector<std::string> strings;
  for (const Json& item : require_array(object, key, where)) {
    if (!item.is_string()) refuse(where, fmt::format("\"{}\" must hold strings", key));
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

void check_status(const Parameter& parameter, std::string_view where) {
  const bool absent =
      parameter.status == Status::not_identifiable || parameter.status == Status::not_measured;
  const std::string_view status = to_string(parameter.status);
  if (absent && parameter.value) {
    refuse(where, fmt::format("status {} does not allow a value", status));
  }
  if (absent && parameter.reason.empty()) {
    refuse(where, fmt::format("status {} needs a reason", status));
  }
  if (!absent && !parameter.value) {
    refuse(where, fmt::format("value is null, but status {} needs a number", status));
  }
}

Json parameter_json(const Parameter& parameter) {
  return Json{{"value", parameter.value ? Json(*parameter.value) : Json()},
              {"unit", to_string(parameter.unit)},
              {"interval", interval_json(parameter.interval)},
              {"level", parameter.level},
              {"status", to_string(parameter.status)},
              {"reason", parameter.reason},
              {"method", parameter.method},
              {"evidence", parameter.evidence},
              {"valid_range", parameter.valid_range},
              {"distribution", parameter.distribution}};
}

Parameter read_parameter(const Json& object, std::string_view where) {
  if (!object.is_object()) refuse(where, "must be an object");
  refuse_unknown_keys(object,
                      {"value", "unit", "interval", "level", "status", "reason", "method",
                       "evidence", "valid_range", "distribution"},
                      where);
  Parameter parameter;
  const Json& value = require(object, "value", where);
  if (!value.is_null()) parameter.value = require_number(object, "value", where);
  parameter.unit = parsed(parse_unit, require_string(object, "unit", where), where);
  parameter.interval = read_interval(object, where);
  parameter.level = require_number(object, "level", where);
  if (!(parameter.level > 0 && parameter.level < 1)) {
    refuse(where, "\"level\" must lie between 0 and 1");
  }
  parameter.status = parsed(parse_status, require_string(object, "status", where), where);
  parameter.reason = require_string(object, "reason", where);
  parameter.method = require_string(object, "method", where);
  parameter.evidence = read_strings(object, "evidence", where);
  parameter.valid_range = require_object(object, "valid_range", where);
  parameter.distribution = require(object, "distribution", where);
  if (!parameter.distribution.is_null() && !parameter.distribution.is_object()) {
    refuse(where, "\"distribution\" must be null or an object");
  }
  check_status(parameter, where);
  return parameter;
}

Json covariance_json(const Covariance& covariance) {
  return Json{{"names", covariance.names}, {"matrix", covariance.matrix}};
}

// Positive semidefinite up to rounding, judged on the correlations because the estimates have
// units of very different size.
void check_semidefinite(const std::vector<std::vector<double>>& rows, std::string_view where) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd correlation(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const double scale = std::sqrt(rows[i][i]) * std::sqrt(rows[j][j]);
      if (scale == 0 && rows[i][j] != 0) refuse(where, "matrix is not positive semidefinite");
      correlation(i, j) = scale > 0 ? rows[i][j] / scale : 0.0;
    }
  }
  if (n == 0) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(correlation, Eigen::EigenvaluesOnly);
  if (!(solver.eigenvalues().minCoeff() >= -1e-8 * static_cast<double>(n))) {
    refuse(where, "matrix is not positive semidefinite");
  }
}

Covariance read_covariance(const Json& object, std::string_view where) {
  Covariance covariance;
  covariance.names = read_strings(object, "names", where);
  if (std::set<std::string>(covariance.names.begin(), covariance.names.end()).size() !=
      covariance.names.size()) {
    refuse(where, "\"names\" must not repeat a name");
  }
  for (const Json& row : require_array(object, "matrix", where)) {
    if (!row.is_array()) refuse(where, "matrix must hold rows of numbers");
    covariance.matrix.emplace_back();
    for (const Json& cell : row) {
      if (!cell.is_number()) refuse(where, "matrix must hold rows of numbers");
      covariance.matrix.back().push_back(cell.get<double>());
    }
  }
  const auto& matrix = covariance.matrix;
  const std::size_t n = covariance.names.size();
  for (std::size_t i = 0; i < matrix.size() || i < n; ++i) {
    if (matrix.size() != n || matrix[i].size() != n) {
      refuse(where, fmt::format("matrix is not square with {} rows, one for each name", n));
    }
    if (!(matrix[i][i] >= 0)) refuse(where, "matrix has a negative variance");
    for (std::size_t j = 0; j < i; ++j) {
      const double scale = std::max(std::abs(matrix[i][j]), std::abs(matrix[j][i]));
      if (std::abs(matrix[i][j] - matrix[j][i]) > 1e-12 * scale) {
        refuse(where, "matrix is not symmetric");
      }
    }
  }
  check_semidefinite(matrix, where);
  return covariance;
}

Json curve_json(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    points.push_back({{"x", point.x}, {"y", point.y}, {"interval", interval_json(point.interval)}});
  }
  return Json{{"quantity", curve.quantity},
              {"parameters", to_json(curve.parameters)},
              {"x_name", curve.x_name},
              {"x_unit", to_string(curve.x_unit)},
              {"y_unit", to_string(curve.y_unit)},
              {"points", std::move(points)},
              {"evidence", curve.evidence}};
}

Curve read_curve(const Json& object, std::string_view where) {
  if (!object.is_object()) refuse(where, "must be an object");
  refuse_unknown_keys(
      object, {"quantity", "parameters", "x_name", "x_unit", "y_unit", "points", "evidence"},
      where);
  Curve curve;
  curve.quantity = require_string(object, "quantity", where);
  curve.parameters = parameters_from_json(require(object, "parameters", where), where);
  curve.x_name = require_string(object, "x_name", where);
  curve.x_unit = parsed(parse_unit, require_string(object, "x_unit", where), where);
  curve.y_unit = parsed(parse_unit, require_string(object, "y_unit", where), where);
  for (const Json& point : require_array(object, "points", where)) {
    curve.points.push_back({require_number(point, "x", where), require_number(point, "y", where),
                            read_interval(point, where)});
    const std::size_t n = curve.points.size();
    if (n > 1 && !(curve.points[n - 2].x < curve.points[n - 1].x)) {
      refuse(where, fmt::format("points must rise in x, but {} follows {}", curve.points[n - 1].x,
                                curve.points[n - 2].x));
    }
  }
  curve.evidence = read_strings(object, "evidence", where);
  return curve;
}

void check_schema(const Json& document, std::string_view where) {
  if (!document.is_object()) refuse(where, "not a machine document: the top level is no object");
  const std::string schema = require_string(document, "schema", where);
  if (schema != machine_schema) {
    refuse(where, fmt::format("schema is \"{}\", but this version reads \"{}\": calibrate again",
                              schema, machine_schema));
  }
}

}  // namespace

Json to_json(const Machine& machine) {
  Json parameters = Json::object();
  for (const auto& [name, parameter] : machine.parameters) {
    parameters[name] = parameter_json(parameter);
  }
  Json curves = Json::array();
  for (const Curve& curve : machine.curves) curves.push_back(curve_json(curve));
  return Json{{"schema", machine_schema},
              {"source", to_string(machine.source)},
              {"device", machine.device},
              {"facts", to_json(machine.facts)},
              {"tool", machine.tool},
              {"inputs", machine.inputs},
              {"parameters", std::move(parameters)},
              {"covariance", covariance_json(machine.covariance)},
              {"curves", std::move(curves)}};
}

Machine machine_from_json(const Json& document, std::string_view where) {
  check_schema(document, where);
  refuse_unknown_keys(document,
                      {"schema", "source", "device", "facts", "tool", "inputs", "parameters",
                       "covariance", "curves"},
                      where);
  Machine machine;
  machine.source = parsed(parse_source, require_string(document, "source", where), where);
  machine.device = require_string(document, "device", where);
  machine.facts = facts_from_json(require(document, "facts", where), where);
  machine.tool = require_object(document, "tool", where);
  machine.inputs = require_array(document, "inputs", where);
  for (const auto& [name, parameter] : require_object(document, "parameters", where).items()) {
    machine.parameters[name] =
        read_parameter(parameter, fmt::format("{}: parameters.{}", where, name));
  }
  machine.covariance = read_covariance(require_object(document, "covariance", where),
                                       fmt::format("{}: covariance", where));
  for (const Json& curve : require_array(document, "curves", where)) {
    machine.curves.push_back(
        read_curve(curve, fmt::format("{}: curves[{}]", where, machine.curves.size())));
  }
  return machine;
}

}  // namespace warpmeter
