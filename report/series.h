// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace warpmeter {

struct SeriesPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval;  // of y
  Verdict verdict = Verdict::ok;
  std::string hover;  // HTML-escaped
};

// The measurements of one quantity that differ only in the parameter along the x axis.
struct Series {
  std::string quantity;
  Parameters fixed;
  std::string name;  // the fixed parameters that differ between the series; plain text
  std::vector<SeriesPoint> points;  // by rising x
};

using Abscissa = std::function<std::optional<double>(const Measurement&)>;

// All measurements of `quantity` that have a value, whatever their verdict: grouped by every
// parameter but `x_name`, and apart for each run. If no run holds any, the curves of the machine.
std::vector<Series> series_of(const ReportInput& input, std::string_view quantity,
                              const std::string& x_name);

// As above, with x read from the measurement (a condition, say); machine curves are not used.
std::vector<Series> series_of(const ReportInput& input, std::string_view quantity,
                              const std::string& x_name, const Abscissa& x);

// One sentence of HTML that says why there is nothing to draw of `quantity`: the reasons of the
// measurements without value, or that no document holds any.
std::string why_missing(const ReportInput& input, std::string_view quantity);

}  // namespace warpmeter
