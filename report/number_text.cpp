// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/number_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace warpmeter {

namespace {

constexpr std::string_view no_value = "–";

bool is_bytes(const std::string& name) {
  static constexpr std::array names = {"footprint", "size", "in_flight"};
  for (const char* other : names) {
    if (name == other) return true;
  }
  return false;
}

std::string parameter_text(const std::string& name, const Scalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (name == "page" && *text == "4k") return "4 KiB pages";
    if (name == "page" && *text == "huge") return "huge pages";
    if (name == "page") return *text + " pages";
    if (name == "path") return "path " + *text;
    return *text;  // direction, engine, type, phase and link speak for themselves
  }
  const double number = std::get<double>(value);
  if (name == "threads") return fmt::format("{:g} thread{}", number, number == 1 ? "" : "s");
  if (is_bytes(name)) return fmt::format("{} {}", name, format_bytes(number));
  return fmt::format("{} {:g}", name, number);
}

}  // namespace

std::string value_text(std::optional<double> value, Unit unit) {
  if (!value) return std::string(no_value);
  return unit == Unit::byte ? format_bytes(*value) : format_si(*value, unit);
}

std::string interval_text(const std::optional<Interval>& interval, Unit unit) {
  if (!interval) return "";
  return value_text(interval->lo, unit) + " – " + value_text(interval->hi, unit);
}

std::string relative_interval_text(std::optional<double> value,
                                   const std::optional<Interval>& interval) {
  if (!value || !interval || *value == 0) return "";
  return signed_percent_text(interval->lo / *value - 1) + " / " +
         signed_percent_text(interval->hi / *value - 1);
}

std::string percent_text(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.1f} %", *ratio * 100) : std::string(no_value);
}

std::string signed_percent_text(std::optional<double> ratio) {
  return ratio ? fmt::format("{:+.1f} %", *ratio * 100) : std::string(no_value);
}

std::string parameters_text(const Parameters& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out += ", ";
    out += parameter_text(name, value);
  }
  return out;
}

}  // namespace warpmeter
