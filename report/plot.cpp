// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/html.h"

namespace warpmeter {

std::string_view colour(std::size_t index) {
  static constexpr std::array<std::string_view, 7> palette = {
      "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
  return palette[index % palette.size()];
}

std::string_view symbol(std::size_t index) {
  static constexpr std::array<std::string_view, 7> symbols = {
      "circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "star"};
  return symbols[index % symbols.size()];
}

Json axis(std::string_view title, Scale scale) {
  return {{"title", {{"text", std::string(title)}}},
          {"type", scale == Scale::log ? "log" : "linear"}};
}

Json measured_trace(const std::vector<SeriesPoint>& points, std::string_view name,
                    const Look& look) {
  Json x = Json::array(), y = Json::array(), above = Json::array(), below = Json::array(),
       hover = Json::array(), symbols = Json::array(), colours = Json::array();
  const std::string mark = std::string(symbol(look.symbol)) + (look.fill == "open" ? "-open" : "");
  bool any_interval = false;
  for (const SeriesPoint& point : points) {
    x.push_back(point.x);
    y.push_back(point.y);
    any_interval = any_interval || point.interval.has_value();
    above.push_back(point.interval ? std::max(0.0, point.interval->hi - point.y) : 0.0);
    below.push_back(point.interval ? std::max(0.0, point.y - point.interval->lo) : 0.0);
    hover.push_back(point.hover);
    symbols.push_back(usable(point.verdict) ? mark : "x-thin-open");
    colours.push_back(usable(point.verdict) ? colour(look.colour) : "#777777");
  }
  Json trace = {{"type", "scatter"},
                {"mode", look.mode},
                {"name", escape_html(name)},
                {"x", x},
                {"y", y},
                {"text", hover},
                {"hovertemplate", "%{text}<extra></extra>"},
                {"marker", {{"symbol", symbols}, {"color", colours}, {"size", 7}}},
                {"line", {{"color", colour(look.colour)}, {"width", 1.5}}}};
  if (look.fill == "open") trace["line"]["dash"] = "dot";
  if (any_interval) {
    trace["error_y"] = {{"type", "data"},
                        {"symmetric", false},
                        {"array", above},
                        {"arrayminus", below},
                        {"thickness", 1.2},
                        {"width", 2},
                        {"color", colour(look.colour)}};
  }
  return trace;
}

Json line_trace(const Line& line) {
  return {{"type", "scatter"},
          {"mode", "lines"},
          {"name", escape_html(line.name)},
          {"x", line.x},
          {"y", line.y},
          {"hovertemplate", escape_html(line.name) + "<extra></extra>"},
          {"line", {{"color", line.colour}, {"dash", line.dash}, {"width", 1.5}}}};
}

std::optional<Range> x_range(const std::vector<Series>& all) {
  std::optional<Range> range;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (!range) range = Range{point.x, point.x};
      range->lo = std::min(range->lo, point.x);
      range->hi = std::max(range->hi, point.x);
    }
  }
  return range;
}

std::vector<double> log_spaced(double lo, double hi, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(lo * std::pow(hi / lo, i / (count - 1.0)));
  return out;
}

Json horizontal_mark(double y, const Range& x, std::string_view label) {
  return {{"type", "line"},
          {"layer", "below"},
          {"x0", x.lo},
          {"x1", x.hi},
          {"y0", y},
          {"y1", y},
          {"line", {{"color", "#999999"}, {"width", 2}}},
          {"label",
           {{"text", escape_html(label)},
            {"textposition", "end"},
            {"yanchor", "top"},
            {"padding", 7},
            {"font", {{"size", 11}, {"color", "#333333"}}}}}};
}

Json vertical_mark(double x) {
  return {{"type", "line"},  {"layer", "below"},
          {"yref", "paper"}, {"x0", x},
          {"x1", x},         {"y0", 0},
          {"y1", 1},         {"line", {{"color", "#666666"}, {"width", 1}, {"dash", "dot"}}}};
}

Json vertical_band(double lo, double hi) {
  return {{"type", "rect"},  {"layer", "below"},
          {"yref", "paper"}, {"x0", lo},
          {"x1", hi},        {"y0", 0},
          {"y1", 1},         {"fillcolor", "#56B4E9"},
          {"opacity", 0.2},  {"line", {{"width", 0}}}};
}

Json top_label(double x, std::string_view label) {
  // Coordinates of annotations on log axes are logarithms; those of shapes are not.
  return {{"x", std::log10(x)},
          {"y", 1},
          {"yref", "paper"},
          {"text", escape_html(label)},
          {"showarrow", false},
          {"yanchor", "bottom"},
          {"font", {{"size", 10}, {"color", "#555555"}}}};
}

}  // namespace warpmeter
