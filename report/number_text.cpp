// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
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

// Four digits with a binary prefix, also where it is not exact: "28.84 KiB".
std::string binary_bytes(double bytes) {
  static constexpr std::array names = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t index = 0;
  while (index + 1 < names.size() && std::abs(bytes) >= 1024) {
    bytes /= 1024;
    ++index;
  }
  return fmt::format("{:.4g} {}", bytes, names[index]);
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
  if (is_bytes(name)) return fmt::format("{} {}", name, binary_bytes(number));
  return fmt::format("{} {:g}", name, number);
}

}  // namespace

std::string si_text(double value, Unit unit) {
  std::string text = format_si(value, unit);
  if (const auto micro = text.find(" u"); micro != std::string::npos) text.replace(micro, 2, " µ");
  return text;
}

std::string value_text(std::optional<double> value, Unit unit) {
  if (!value) return std::string(no_value);
  return unit == Unit::byte ? binary_bytes(*value) : si_text(*value, unit);
}

std::string interval_text(const std::optional<Interval>& interval, Unit unit) {
  if (!interval) return "";
  std::string lo = value_text(interval->lo, unit);
  const std::string hi = value_text(interval->hi, unit);
  const auto space = lo.rfind(' ');
  if (space != std::string::npos && hi.ends_with(lo.substr(space))) lo.resize(space);
  return lo + " – " + hi;
}

std::string relative_interval_text(std::optional<double> value,
                                   const std::optional<Interval>& interval) {
  if (!value || !interval || *value == 0) return "";
  const std::string below = signed_percent_text(interval->lo / *value - 1);
  const std::string above = signed_percent_text(interval->hi / *value - 1);
  if (below.substr(1) == above.substr(1) && below != above) return "±" + above.substr(1);
  return below + " / " + above;
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
