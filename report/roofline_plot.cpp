// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "model/roofline.h"
#include "report/html.h"
#include "report/kernels.h"
#include "report/number_text.h"
#include "report/section.h"

namespace warpmeter {

namespace {

struct Roof {
  std::string resource;  // "f32", "DRAM"
  std::string kind;      // "sustained", "burst", "tensor", "read"
  double value = 0;      // op/s or B/s
  Unit unit = Unit::one;
};

struct Roofs {
  std::vector<Roof> compute;  // the highest first
  std::vector<Roof> memory;
};

// The third part of "throughput.fma.f32.device.sustained", the second of
// "bandwidth.l2.read.device".
std::string resource_of(const std::string& parameter, Unit unit) {
  std::size_t begin = parameter.find('.') + 1;
  if (unit == Unit::op_per_second) begin = parameter.find('.', begin) + 1;
  std::string resource = parameter.substr(begin, parameter.find('.', begin) - begin);
  if (unit == Unit::byte_per_second) {
    for (char& c : resource) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return resource;
}

Roof roof_of(const std::string& parameter, double value, Unit unit) {
  std::string kind = unit == Unit::byte_per_second             ? "read"
                     : parameter.starts_with("throughput.mma") ? "tensor"
                     : parameter.ends_with(".burst")           ? "burst"
                                                               : "sustained";
  return {resource_of(parameter, unit), kind, value, unit};
}

// The ceilings that the model uses, and the burst ones, which it does not.
Roofs roofs_of(const Machine& machine) {
  Roofs roofs;
  for (const RooflineCeiling& ceiling : roofline_of(machine, Run{}).ceilings) {
    auto& kind = ceiling.unit == Unit::byte_per_second ? roofs.memory : roofs.compute;
    kind.push_back(roof_of(ceiling.name, ceiling.value, ceiling.unit));
  }
  for (const auto& [name, parameter] : machine.parameters) {
    if (name.starts_with("throughput.fma.") && name.ends_with(".device.burst") && parameter.value) {
      roofs.compute.push_back(roof_of(name, *parameter.value, parameter.unit));
    }
  }
  const auto higher = [](const Roof& a, const Roof& b) { return a.value > b.value; };
  std::sort(roofs.compute.begin(), roofs.compute.end(), higher);
  std::sort(roofs.memory.begin(), roofs.memory.end(), higher);
  return roofs;
}

// A factor of 4 around the outermost ridges, more where the kernels need it.
Range intensities(const std::vector<Series>& kernels, const Roofs& roofs) {
  Range range{roofs.compute.back().value / roofs.memory.front().value / 4,
              roofs.compute.front().value / roofs.memory.back().value * 4};
  if (const auto drawn = x_range(kernels)) {
    range = {std::min(range.lo, drawn->lo / 2), std::max(range.hi, drawn->hi * 2)};
  }
  return range;
}

// A label at one end of a roof; coordinates of annotations on log axes are logarithms.
Json roof_label(double x, double y, const std::string& text, const char* x_anchor,
                const char* y_anchor) {
  return {{"x", std::log10(x)},
          {"y", std::log10(y)},
          {"text", escape_html(text)},
          {"showarrow", false},
          {"xanchor", x_anchor},
          {"yanchor", y_anchor},
          {"font", {{"size", 11}, {"color", "#333333"}}}};
}

// Roofs carry their name at one end, so that the legend is for the kernels alone.
Json roof_trace(const Roof& roof, const Range& x, const Range& y, std::string_view grey) {
  Json trace =
      line_trace({fmt::format("{} {} {}", roof.resource, roof.kind, si_text(roof.value, roof.unit)),
                  {x.lo, x.hi},
                  {y.lo, y.hi},
                  grey,
                  roof.kind == "burst" ? "dash" : "solid"});
  trace["showlegend"] = false;
  return trace;
}

void add_roofs(const Roofs& roofs, const Range& range, Plot& plot) {
  static constexpr std::array greys = {"#222222", "#606060", "#909090", "#b5b5b5"};
  const double top = roofs.compute.front().value;
  Json labels = Json::array();
  for (std::size_t i = 0; i < roofs.memory.size(); ++i) {
    const Roof& roof = roofs.memory[i];
    const std::size_t shade = std::min(roofs.memory.size() - 1 - i, greys.size() - 1);
    plot.data.push_back(
        roof_trace(roof, {range.lo, top / roof.value}, {range.lo * roof.value, top}, greys[shade]));
    labels.push_back(roof_label(range.lo * 1.06, range.lo * roof.value,
                                roof.resource + " " + si_text(roof.value, roof.unit), "left",
                                "top"));
  }
  std::map<std::string, std::string> names;  // one label for burst and sustained
  for (const Roof& roof : roofs.compute) {
    std::string& name = names[roof.resource];
    name += (name.empty() ? roof.resource + ": " : ", ") + si_text(roof.value, roof.unit) + " " +
            roof.kind;
  }
  for (const Roof& roof : roofs.compute) {
    plot.data.push_back(roof_trace(roof, {roof.value / roofs.memory.front().value, range.hi},
                                   {roof.value, roof.value}, greys.front()));
    if (const auto name = names.extract(roof.resource)) {
      labels.push_back(roof_label(range.hi / 1.06, roof.value, name.mapped(), "right", "bottom"));
    }
  }
  plot.layout["annotations"] = labels;
}

std::string hover_of(const KernelRow& row, const RooflinePoint& point) {
  std::string text =
      fmt::format("<b>{}</b> {}<br>{}<br>{}, {}, {:.3g} op/B", escape_html(row.kernel),
                  escape_html(row.type), escape_html(row.shape), si_text(row.time_s, Unit::second),
                  si_text(point.ops_per_s, Unit::op_per_second), point.intensity);
  if (row.bound_s) {
    text += fmt::format("<br>{} of the bound ({})", percent_text(*row.bound_s / row.time_s),
                        escape_html(row.bound));
  }
  return text;
}

// One series for each family that has a point, by the index that is its colour.
std::map<std::size_t, Series> kernel_series(const ReportInput& input,
                                            const std::vector<KernelRow>& rows) {
  std::map<std::size_t, Series> out;
  const std::vector<std::string> all = families(input);
  for (const Run& run : input.runs) {
    for (const RooflinePoint& point : roofline_of(*input.machine, run).points) {
      const Measurement* measurement = find(run, point.id);
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const KernelRow& candidate) {
        return candidate.measurement == measurement;
      });
      if (row == rows.end()) continue;
      Series& series = out[family_index(all, point.family)];
      series.name = point.family;
      series.points.push_back({point.intensity, point.ops_per_s, point.interval,
                               measurement->verdict, hover_of(*row, point)});
    }
  }
  return out;
}

std::string without_arithmetic(const std::vector<KernelRow>& rows) {
  std::set<std::string> names;
  for (const KernelRow& row : rows) {
    if (row.ops == 0) names.insert(row.kernel);
  }
  if (names.empty()) return "";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + code(name);
  return paragraph("how", "Not drawn, because they do no arithmetic: " + text + ".");
}

}  // namespace

Section roofline_section(const ReportInput& input) {
  Section section{"roofline", "Roofline", "", {}, ""};
  if (!input.machine) {
    section.intro =
        paragraph("missing", "No machine document was given, so there are no ceilings.");
    return section;
  }
  const Roofs roofs = roofs_of(*input.machine);
  if (roofs.compute.empty() || roofs.memory.empty()) {
    section.intro =
        paragraph("missing", fmt::format("The machine has no {} with a value, so there is no roof.",
                                         code(roofs.compute.empty() ? "throughput.*.device"
                                                                    : "bandwidth.*.read.device")));
    return section;
  }
  section.intro = paragraph(
      "how",
      "A kernel can be no higher than the roof of its type on the right and the roof of the level "
      "that serves its bytes on the left (solid: sustained, dashed: burst). Intensity counts "
      "compulsory bytes only: real traffic moves a kernel's true place to the left.");
  const std::vector<KernelRow> rows = kernel_rows(input);
  Plot plot;
  std::vector<Series> drawn;
  for (const auto& [index, series] : kernel_series(input, rows)) {
    plot.data.push_back(
        measured_trace(series.points, series.name, {index, index, "full", "markers"}));
    drawn.push_back(series);
  }
  add_roofs(roofs, intensities(drawn, roofs), plot);
  plot.layout["xaxis"] = axis("arithmetic intensity [op/B]", Scale::log);
  plot.layout["yaxis"] = axis("performance", Scale::log);
  plot.y_unit = Unit::op_per_second;
  section.plot = std::move(plot);
  if (rows.empty()) section.rest += paragraph("missing", why_missing(input, "kernel.time"));
  section.rest += without_arithmetic(rows);
  return section;
}

}  // namespace warpmeter
