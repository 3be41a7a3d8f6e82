// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <string_view>

namespace warpmeter {

// The units that a record may carry: SI base units without prefix. Prefixes exist only in text made
// for people.
enum class Unit {
  one,
  second,
  byte,
  byte_per_second,
  hertz,
  cycle,
  op,
  op_per_second,
  byte_per_cycle,
  op_per_cycle,
  watt,
  joule,
  kelvin,
};

// "1", "s", "B", "B/s", "Hz", "cycle", "op", "op/s", "B/cycle", "op/cycle", "W", "J", "K".
std::string_view to_string(Unit unit);

// The inverse of to_string. Throws InputError on any other text: an unknown unit is never guessed.
Unit parse_unit(std::string_view text);

// For people: four significant digits and a decimal prefix, as in "1.234 GB/s" or "87.2 ns". Bytes
// use decimal prefixes too.
std::string format_si(double value, Unit unit);

// For people: a byte count with a binary prefix where it is exact ("48 KiB", "1 GiB"), else as
// format_si.
std::string format_bytes(double bytes);

}  // namespace warpmeter
