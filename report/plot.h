// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/unit.h"
#include "report/series.h"

namespace warpmeter {

// One figure of plotly: page.js adds ticks, fonts, margins and what a narrow screen needs.
struct Plot {
  Json data = Json::array();
  Json layout = Json::object();  // keys xaxis and yaxis are made by axis()
  Unit x_unit = Unit::one;
  Unit y_unit = Unit::one;
  std::string_view shape = "wide";  // or "square": a class of page.css
};

// Okabe and Ito's palette, which people with colour-blindness can tell apart, without its yellow
// (too pale on white); beyond seven it repeats, so symbols must differ too.
// https://jfly.uni-koeln.de/color/
std::string_view colour(std::size_t index);
std::string_view symbol(std::size_t index);

enum class Scale { linear, log };
Json axis(std::string_view title, Scale scale);

// How a measured series is drawn.
struct Look {
  std::size_t colour = 0;
  std::size_t symbol = 0;
  std::string_view fill = "full";  // "full" or "open"
  std::string_view mode = "lines+markers";
};

// Points with interval bars; a point with an unusable verdict is a grey cross. `name` is plain
// text.
Json measured_trace(const std::vector<SeriesPoint>& points, std::string_view name,
                    const Look& look);

// A computed line without markers. `dash` as in plotly: "solid", "dash", "dot".
struct Line {
  std::string name;
  std::vector<double> x, y;
  std::string_view colour = "#000000";
  std::string_view dash = "solid";
};
Json line_trace(const Line& line);

// Smallest and largest x over all points; null if there are none.
struct Range {
  double lo = 0;
  double hi = 0;
};
std::optional<Range> x_range(const std::vector<Series>& all);

// `count` abscissas from lo to hi, equally spaced on a log axis; both must be positive.
std::vector<double> log_spaced(double lo, double hi, int count);

// Shapes in data coordinates; the labels are plain text.
Json horizontal_mark(double y, const Range& x, std::string_view label);
Json vertical_mark(double x);
Json vertical_band(double lo, double hi);
// An annotation above the plot at abscissa x of a log axis.
Json top_label(double x, std::string_view label);

}  // namespace warpmeter
