// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/facts.h"

#include "core/error.h"

namespace warpmeter {

std::optional<double> fact_number(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end() || !found->second.value.is_number()) return std::nullopt;
  return found->second.value.get<double>();
}

std::string fact_text(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end() || !found->second.value.is_string()) return "";
  return found->second.value.get<std::string>();
}

Json to_json(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [name, fact] : facts) {
    Json entry = Json{{"value", fact.value}};
    if (fact.unit) entry["unit"] = to_string(*fact.unit);
    entry["source"] = fact.source;
    object[name] = std::move(entry);
  }
  return object;
}

Facts facts_from_json(const Json& object, std::string_view where) {
  if (!object.is_object()) throw InputError(std::string(where) + ": \"facts\" must be an object");
  Facts facts;
  for (const auto& [name, entry] : object.items()) {
    const std::string here = std::string(where) + ": fact " + name;
    Fact fact;
    fact.value = require(entry, "value", here);
    if (entry.contains("unit")) fact.unit = parse_unit(require_string(entry, "unit", here));
    fact.source = require_string(entry, "source", here);
    facts[name] = std::move(fact);
  }
  return facts;
}

}  // namespace warpmeter
