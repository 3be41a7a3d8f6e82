// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>

#include "core/interval.h"
#include "core/measurement.h"
#include "core/unit.h"

namespace warpmeter {

// Numbers for people; all results are plain text, not HTML.

// format_si with the letter mu for micro.
std::string si_text(double value, Unit unit);

// Bytes with a binary prefix, else si_text. "–" for no value.
std::string value_text(std::optional<double> value, Unit unit);

// "1.180 – 1.250 ns", "987.1 ns – 1.020 us", "" for none.
std::string interval_text(const std::optional<Interval>& interval, Unit unit);

// The interval relative to the value, "-1.2 % / +3.4 %" or "±1.2 %", "" for
// none or a value of zero.
std::string relative_interval_text(std::optional<double> value,
                                   const std::optional<Interval>& interval);

// "12.3 %" and "+12.3 %" of a ratio; "–" for no value.
std::string percent_text(std::optional<double> ratio);
std::string signed_percent_text(std::optional<double> ratio);

// "huge pages, 2 threads": for legends. Empty for no parameters.
std::string parameters_text(const Parameters& parameters);

}  // namespace warpmeter
