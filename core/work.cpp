// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/work.h"

#include <fmt/format.h>

#include "core/error.h"

namespace warpmeter {
namespace {

double non_negative(const Json& object, std::string_view key, std::string_view where) {
  const double value = require_number(object, key, where);
  if (value < 0) throw InputError(fmt::format("{}: \"{}\" is negative", where, key));
  return value;
}

}  // namespace

Json to_json(const Work& work) {
  Json ops = Json::object();
  for (const auto& [type, count] : work.ops) ops[type] = count;
  Json json = {{"ops", ops},
               {"bytes_read", work.bytes_read},
               {"bytes_written", work.bytes_written},
               {"working_set", work.working_set},
               {"launches", work.launches}};
  if (work.link_bytes > 0) json["link_bytes"] = work.link_bytes;
  if (work.tiles > 0) json["tiles"] = work.tiles;
  return json;
}

Work work_from_json(const Json& object, std::string_view where) {
  Work work;
  const Json& ops = require(object, "ops", where);
  if (!ops.is_object()) throw InputError(fmt::format("{}: \"ops\" must be an object", where));
  for (const auto& [type, unused] : ops.items()) work.ops[type] = non_negative(ops, type, where);
  work.bytes_read = non_negative(object, "bytes_read", where);
  work.bytes_written = non_negative(object, "bytes_written", where);
  work.working_set = non_negative(object, "working_set", where);
  work.launches = non_negative(object, "launches", where);
  if (object.contains("link_bytes")) work.link_bytes = non_negative(object, "link_bytes", where);
  if (object.contains("tiles")) work.tiles = non_negative(object, "tiles", where);
  return work;
}

}  // namespace warpmeter
