// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run.h"

namespace warpmeter {

// Measurements that belong together, such as the points of a curve.
using Points = std::vector<const Measurement*>;

// Whether a measurement enters an estimate: it has a value and its verdict is ok, multimodal or
// unstable. Campaigns that differ make a wide interval, not a wrong number; calibrate() says which
// parameters rest on unstable measurements.
bool calibrates(const Measurement& measurement);

// The usable measurements of a quantity, and what was refused: "ID (verdict: reason)" each.
struct Selection {
  Points usable;
  std::vector<std::string> refused;
};
Selection select(const Run& run, std::string_view quantity);

// Why there is nothing: no such measurement at all, or each one's verdict. `what` names what was
// looked for, as in "latency.chase with page=huge".
std::string missing_reason(const Selection& selection, std::string_view what);

// Appended to a reason where points were left out of an estimate: "" if none were.
std::string left_out(const Selection& selection);

// Those whose parameter `name` is this number or word.
Points with(const Points& points, const std::string& name, double value);
Points with(const Points& points, const std::string& name, const std::string& value);
// As above, but all points if none has the parameter at all.
Points with_or_without(const Points& points, const std::string& name, const std::string& value);

std::optional<double> largest(const Points& points, const std::string& name);

// One group per combination of the parameters other than `x`, each by rising x; points without x
// are left out. Order: that of the remaining parameters.
struct Series {
  Parameters fixed;
  Points points;
};
std::vector<Series> series_along(const Points& points, const std::string& x);

std::vector<double> numbers(const Points& points, const std::string& name);  // all must have it
std::vector<double> values(const Points& points);
std::vector<std::string> ids(const Points& points);

// The smallest number of campaigns of any point; 0 if one has no samples.
std::size_t campaign_count(const Points& points);

// The median of the samples within 3 robust standard deviations of their median. Interference only
// adds time, so that its outliers are one-sided and shift a plain median by a part of the scatter
// (5 % of outliers: 0.07 standard deviations), which counts once many points are averaged. Null of
// nothing.
std::optional<double> location(std::span<const double> samples);

// What campaign number `campaign` alone says about each point: the location of its samples.
std::vector<double> campaign_values(const Points& points, std::size_t campaign);

// An estimate from each campaign alone, whose scatter is the estimate's own uncertainty, whatever
// the estimator: campaigns are independent repetitions. From the points' values, one estimate, if
// there are no samples. Empty if the estimator fails on one of them.
using Estimator = std::function<std::optional<double>(const std::vector<double>& values)>;
std::vector<double> replicate(const Points& points, const Estimator& estimator);

}  // namespace warpmeter
