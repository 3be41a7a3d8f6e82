// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::array<std::pair<Unit, std::string_view>, 13> unit_names = {{
    {Unit::one, "1"},
    {Unit::second, "s"},
    {Unit::byte, "B"},
    {Unit::byte_per_second, "B/s"},
    {Unit::hertz, "Hz"},
    {Unit::cycle, "cycle"},
    {Unit::op, "op"},
    {Unit::op_per_second, "op/s"},
    {Unit::byte_per_cycle, "B/cycle"},
    {Unit::op_per_cycle, "op/cycle"},
    {Unit::watt, "W"},
    {Unit::joule, "J"},
    {Unit::kelvin, "K"},
}};

bool takes_prefix(Unit unit) {
  return unit != Unit::one && unit != Unit::cycle && unit != Unit::kelvin &&
         unit != Unit::byte_per_cycle && unit != Unit::op_per_cycle;
}

}  // namespace

std::string_view to_string(Unit unit) {
  for (const auto& [known, name] : unit_names) {
    if (known == unit) return name;
  }
  throw std::logic_error("unit without a name");
}

Unit parse_unit(std::string_view text) {
  for (const auto& [unit, name] : unit_names) {
    if (name == text) return unit;
  }
  throw InputError(
      fmt::format("unknown unit \"{}\": records carry s, B, B/s, Hz, cycle, op, op/s, B/cycle, "
                  "op/cycle, W, J, K or 1",
                  text));
}

std::string format_si(double value, Unit unit) {
  if (!std::isfinite(value)) return "n/a";
  if (!takes_prefix(unit)) {
    const std::string number = fmt::format("{:.4g}", value);
    return unit == Unit::one ? number : fmt::format("{} {}", number, to_string(unit));
  }
  constexpr std::string_view prefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int base = 4;  // index of the empty prefix
  int index = base;
  if (value != 0) {
    // Rounding to four digits first, so that 999.99 becomes 1.000 k and never 1000.
    const double rounded = std::stod(fmt::format("{:.3e}", std::fabs(value)));
    index = base + static_cast<int>(std::floor(std::log10(rounded) / 3 + 1e-12));
    index = std::clamp(index, 0, 10);
  }
  const double scaled = value / std::pow(1000.0, index - base);
  return fmt::format("{:#.4g} {}{}", scaled, prefixes[index], to_string(unit));
}

std::string format_bytes(double bytes) {
  constexpr std::string_view names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int index = 0;
  double scaled = bytes;
  while (index < 4 && scaled >= 1024 && std::fmod(scaled, 1024) == 0) {
    scaled /= 1024;
    ++index;
  }
  if (index < 4 && scaled >= 1024 &&
      std::fmod(scaled * 4, 1024) == 0) {  // 1.25, 1.5 or 1.75 of the next
    scaled /= 1024;
    ++index;
  }
  if (scaled < 10000 && bytes >= 0) return fmt::format("{:g} {}", scaled, names[index]);
  return format_si(bytes, Unit::byte);
}

}  // namespace warpmeter
