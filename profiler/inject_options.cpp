// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/inject_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace warpmeter {

const std::vector<std::string>& collector_names() {
  static const std::vector<std::string> names = {"timeline", "nvtx", "pm", "range", "pc", "nvml"};
  return names;
}

bool InjectOptions::collects(std::string_view name) const {
  return std::find(collect.begin(), collect.end(), name) != collect.end();
}

Json to_json(const InjectOptions& options) {
  Json json = Json::object();
  json["folder"] = options.folder.string();
  json["collect"] = options.collect;
  json["metrics"] = options.metrics;
  json["only"] = options.only;
  json["armed"] = options.armed;
  json["wait_for_range"] = options.wait_for_range;
  json["duration_s"] = options.duration_s ? Json(*options.duration_s) : Json();
  json["overhead_budget"] = options.overhead_budget;
  json["overhead_rounds"] = {{"warm_up_s", options.rounds.warm_up_s},
                             {"window_s", options.rounds.window_s},
                             {"pairs", options.rounds.pairs},
                             {"period_s", options.rounds.period_s}};
  json["memory_bytes"] = options.memory_bytes;
  return json;
}

InjectOptions read_inject_options(std::string_view text) {
  const std::string where = InjectOptions::variable;
  InjectOptions options;
  try {
    const Json json = Json::parse(text);
    options.folder = require_string(json, "folder", where);
    for (const auto& [key, value] : json.items()) {
      if (key == "folder") continue;
      if (key == "collect")
        options.collect = value.get<std::vector<std::string>>();
      else if (key == "metrics")
        options.metrics = value.get<std::string>();
      else if (key == "only")
        options.only = value.get<std::string>();
      else if (key == "armed")
        options.armed = value.get<bool>();
      else if (key == "wait_for_range")
        options.wait_for_range = value.get<std::string>();
      else if (key == "duration_s")
        options.duration_s = value.is_null() ? std::optional<double>() : value.get<double>();
      else if (key == "overhead_budget")
        options.overhead_budget = value.get<double>();
      else if (key == "overhead_rounds")
        options.rounds = {value.at("warm_up_s").get<double>(), value.at("window_s").get<double>(),
                          value.at("pairs").get<std::size_t>(), value.at("period_s").get<double>()};
      else if (key == "memory_bytes")
        options.memory_bytes = value.get<std::size_t>();
      else
        throw InputError(fmt::format("{}: unknown key \"{}\"", where, key));
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: {}; it is set by warpmeter profile", where, error.what()));
  }
  if (options.rounds.pairs < 4 || options.rounds.window_s <= 0)
    throw InputError(fmt::format(
        "{}: a round of overhead needs 4 or more pairs of windows that take time", where));
  if (!options.folder.is_absolute())
    throw InputError(fmt::format("{}: the folder must be absolute", where));
  for (const std::string& name : options.collect) {
    if (std::find(collector_names().begin(), collector_names().end(), name) ==
        collector_names().end())
      throw InputError(fmt::format("unknown collector \"{}\"; use {}", name,
                                   fmt::join(collector_names(), ", ")));
  }
  // They need the devices and the driver, which the timeline finds.
  for (const char* name : {"pm", "range", "pc", "nvml"}) {
    if (options.collects(name) && !options.collects("timeline"))
      throw InputError(fmt::format("{} is collected beside the timeline; add timeline", name));
  }
  return options;
}

}  // namespace warpmeter
