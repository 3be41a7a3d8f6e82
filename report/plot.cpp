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

Json si_axis(std::string_view title, Unit unit, Scale scale) {
  Json axis = {{"title", {{"text", std::string(title)}}},
               {"type", scale == Scale::log ? "log" : "linear"},
               {"tickformat", "~s"}};
  if (unit != Unit::one) axis["ticksuffix"] = " " + std::string(to_string(unit));
  return axis;
}

Json byte_axis(std::string_view title, double lo, double hi) {
  Json axis = {{"title", {{"text", std::string(title)}}}, {"type", "log"}};
  if (lo <= 0 || hi < lo) return axis;
  const int first = static_cast<int>(std::floor(std::log2(lo)));
  const int last = static_cast<int>(std::ceil(std::log2(hi)));
  const int step = std::max(1, (last - first + 9) / 10);
  Json values = Json::array();
  Json labels = Json::array();
  // Aligned to powers of 2^step, so that KiB, MiB and GiB are among the ticks.
  for (int power = (first + step - 1) / step * step; power <= last; power += step) {
    values.push_back(std::ldexp(1.0, power));
    labels.push_back(format_bytes(std::ldexp(1.0, power)));
  }
  axis["tickvals"] = values;
  axis["ticktext"] = labels;
  const double margin = 0.04 * std::max(0.3, std::log10(hi / lo));
  axis["range"] = {std::log10(lo) - margin, std::log10(hi) + margin};
  return axis;
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
    trace["error_y"] = {{"type", "data"},      {"symmetric", false}, {"array", above},
                        {"arrayminus", below}, {"thickness", 1},     {"width", 2}};
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

Json horizontal_mark(double y, double from, double to, std::string_view label,
                     std::string_view line_colour) {
  return {{"type", "line"},
          {"layer", "below"},
          {"x0", from},
          {"x1", to},
          {"y0", y},
          {"y1", y},
          {"line", {{"color", line_colour}, {"width", 2}}},
          {"label",
           {{"text", escape_html(label)},
            {"textposition", "start"},
            {"yanchor", "bottom"},
            {"font", {{"size", 11}, {"color", "#333333"}}}}}};
}

Json vertical_mark(double x, std::string_view label) {
  return {{"type", "line"},
          {"layer", "below"},
          {"yref", "paper"},
          {"x0", x},
          {"x1", x},
          {"y0", 0},
          {"y1", 1},
          {"line", {{"color", "#666666"}, {"width", 1}, {"dash", "dot"}}},
          {"label",
           {{"text", escape_html(label)},
            {"textposition", "end"},
            {"textangle", -90},
            {"xanchor", "right"},
            {"font", {{"size", 10}, {"color", "#555555"}}}}}};
}

Json vertical_band(double lo, double hi) {
  return {{"type", "rect"}, {"layer", "below"},        {"yref", "paper"},
          {"x0", lo},       {"x1", hi},                {"y0", 0},
          {"y1", 1},        {"fillcolor", "#56B4E9"}, {"opacity", 0.2},
          {"line", {{"width", 0}}}};
}

}  // namespace warpmeter
