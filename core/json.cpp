// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/json.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/error.h"

namespace warpmeter {
namespace {

void refuse_non_finite(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw std::logic_error(
        "a document may not hold NaN or infinity: a missing value is null with a reason");
  }
  if (value.is_structured()) {
    for (const auto& item : value) refuse_non_finite(item);
  }
}

std::string read_text(const std::filesystem::path& file, std::size_t max_bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw InputError(
        fmt::format("cannot read {}: it is a folder; name the file in it", file.string()));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > max_bytes) {
    throw InputError(fmt::format("cannot read {}: {} bytes is more than the limit of {}",
                                 file.string(), size, max_bytes));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace

Json read_json(const std::filesystem::path& file, std::size_t max_bytes) {
  const std::string text = read_text(file, max_bytes);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(fmt::format(
        "cannot read {}: the file is empty; measure again or name another file", file.string()));
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const bool at_end = error.byte >= text.size();
    throw InputError(fmt::format("cannot read {}: {} at byte {} of {}", file.string(),
                                 at_end ? "the JSON is cut off" : "not valid JSON", error.byte,
                                 text.size()));
  }
}

void write_json(const std::filesystem::path& file, const Json& document) {
  refuse_non_finite(document);
  // Names from other programs may hold invalid UTF-8; they are written with replacement characters
  // rather than lost.
  write_atomically(file, document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

const Json& require(const Json& object, std::string_view key, std::string_view where) {
  if (!object.is_object()) throw InputError(fmt::format("{}: an object was expected", where));
  const auto found = object.find(key);
  if (found == object.end())
    throw InputError(fmt::format("{}: the key \"{}\" is missing", where, key));
  return *found;
}

std::string require_string(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require(object, key, where);
  if (!value.is_string()) throw InputError(fmt::format("{}: \"{}\" must be a string", where, key));
  return value.get<std::string>();
}

double require_number(const Json& object, std::string_view key, std::string_view where) {
  const Json& value = require(object, key, where);
  if (!value.is_number()) throw InputError(fmt::format("{}: \"{}\" must be a number", where, key));
  return value.get<double>();
}

}  // namespace warpmeter
