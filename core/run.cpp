// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/run.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::array<std::pair<Source, std::string_view>, 4> source_names = {{
    {Source::measured, "measured"},
    {Source::emulated, "emulated"},
    {Source::published, "published"},
    {Source::imported, "imported"},
}};

void check_schema(const Json& document, std::string_view where) {
  const std::string schema = require_string(document, "schema", where);
  if (schema == run_schema) return;
  if (schema.rfind("warpmeter.run/", 0) == 0) {
    throw InputError(fmt::format(
        "{}: schema {} is not the {} that this version reads; use the warpmeter that wrote it",
        where, schema, run_schema));
  }
  throw InputError(
      fmt::format("{}: this is a {} document, a {} is needed", where, schema, run_schema));
}

}  // namespace

std::string_view to_string(Source source) {
  for (const auto& [known, name] : source_names) {
    if (known == source) return name;
  }
  throw std::logic_error("source without a name");
}

Source parse_source(std::string_view text) {
  for (const auto& [source, name] : source_names) {
    if (name == text) return source;
  }
  throw InputError(
      fmt::format("unknown source \"{}\": measured, emulated, published or imported", text));
}

Json to_json(const Run& run) {
  Json document;
  document["schema"] = run_schema;
  document["source"] = to_string(run.source);
  document["tool"] = run.tool;
  document["host"] = run.host;
  document["device"] = Json{{"name", run.device}, {"facts", to_json(run.facts)}};
  document["complete"] = run.complete;
  Json list = Json::array();
  for (const Measurement& measurement : run.measurements) list.push_back(to_json(measurement));
  document["measurements"] = std::move(list);
  return document;
}

Run run_from_json(const Json& document, std::string_view where) {
  check_schema(document, where);
  Run run;
  run.source = parse_source(require_string(document, "source", where));
  run.tool = require(document, "tool", where);
  run.host = require(document, "host", where);
  const Json& device = require(document, "device", where);
  run.device = require_string(device, "name", where);
  run.facts = facts_from_json(require(device, "facts", where), where);
  const Json& complete = require(document, "complete", where);
  if (!complete.is_boolean())
    throw InputError(fmt::format("{}: \"complete\" must be true or false", where));
  run.complete = complete.get<bool>();
  const Json& list = require(document, "measurements", where);
  if (!list.is_array()) throw InputError(fmt::format("{}: \"measurements\" must be a list", where));
  std::set<std::string> ids;
  for (const Json& item : list) {
    run.measurements.push_back(measurement_from_json(item, where));
    if (!ids.insert(run.measurements.back().id).second) {
      throw InputError(
          fmt::format("{}: the id \"{}\" occurs twice", where, run.measurements.back().id));
    }
  }
  return run;
}

Run load_run(const std::filesystem::path& file) {
  return run_from_json(read_json(file), file.string());
}

void save_run(const std::filesystem::path& file, const Run& run) { write_json(file, to_json(run)); }

const Measurement* find(const Run& run, std::string_view id) {
  for (const Measurement& measurement : run.measurements) {
    if (measurement.id == id) return &measurement;
  }
  return nullptr;
}

std::vector<const Measurement*> with_quantity(const Run& run, std::string_view quantity) {
  std::vector<const Measurement*> found;
  for (const Measurement& measurement : run.measurements) {
    if (measurement.quantity == quantity) found.push_back(&measurement);
  }
  return found;
}

}  // namespace warpmeter
