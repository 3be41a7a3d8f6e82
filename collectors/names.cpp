// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/breakdown.h"
#include "collectors/cupti_host.h"

namespace warpmeter {

std::string_view to_string(Profiler profiler) {
  return profiler == Profiler::range ? "range" : "pm";
}

std::string base_metric(std::string_view name) {
  return std::string(name.substr(0, name.find('.', name.find("__"))));
}

Json to_json(const Breakdown& breakdown) {
  Json parts = Json::array();
  for (const Breakdown& part : breakdown.parts) parts.push_back(to_json(part));
  return {{"name", breakdown.name}, {"counters", breakdown.counters}, {"parts", parts}};
}

}  // namespace warpmeter
