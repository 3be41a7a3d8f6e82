// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"

namespace warpmeter {

namespace {

struct Projection {
  double latency_s = 0;
  double bandwidth = 0;  // B/s

  double time(double size) const { return latency_s + size / bandwidth; }
};

// The fit of one direction, as latency plus size over bandwidth. Null if the machine has none.
std::optional<Projection> projection_of(const Machine& machine, const std::string& direction) {
  const auto latency = value_of(machine, "transfer." + direction + ".latency");
  const auto bandwidth = value_of(machine, "transfer." + direction + ".bandwidth");
  if (!latency || !bandwidth || *bandwidth <= 0) return std::nullopt;
  return Projection{*latency, *bandwidth};
}

// The point at which the two parameters are most wrong.
std::string worst_error(const Series& series, const Projection& projection) {
  double worst = -1;
  double at = 0;
  for (const SeriesPoint& point : series.points) {
    if (!usable(point.verdict) || point.y <= 0) continue;
    const double error = std::abs(projection.time(point.x) / point.y - 1);
    if (error > worst) {
      worst = error;
      at = point.x;
    }
  }
  if (worst < 0) return "–";
  return fmt::format("{} at {}", percent_text(worst), format_bytes(at));
}

Line line_of(const Projection& projection, const std::string& name, const Range& range,
             std::string_view line_colour) {
  Line line{name + ": latency + size / bandwidth", {}, {}, line_colour, "dash"};
  for (const double size : log_spaced(range.lo, range.hi, 100)) {
    line.x.push_back(size);
    line.y.push_back(projection.time(size));
  }
  return line;
}

}  // namespace

Section transfer_section(const ReportInput& input) {
  Section section{"transfer", "Transfers", "", {}, ""};
  const auto all = series_of(input, "transfer.time", "size");
  const auto range = x_range(all);
  if (!range || range->lo <= 0) {
    section.intro = paragraph("missing", why_missing(input, "transfer.time"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "Time of one copy against its size: flat while the latency rules, rising in proportion once "
      "the bandwidth does. The dashed line has only these two parameters, as many simulators want "
      "it; the table says how wrong they are at the worst measured size.");
  Plot plot;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name.empty() ? "measured" : all[i].name;
    plot.data.push_back(measured_trace(all[i].points, name, {i, i}));
    const std::string direction = word(all[i].fixed, "direction").value_or("");
    const auto fit = input.machine ? projection_of(*input.machine, direction) : std::nullopt;
    if (!fit) {
      rows.push_back({escape_html(name), "–", "–", "no fit in the machine document"});
      continue;
    }
    plot.data.push_back(line_trace(line_of(*fit, name, *range, colour(i))));
    rows.push_back({escape_html(name), si_text(fit->latency_s, Unit::second),
                    si_text(fit->bandwidth, Unit::byte_per_second), worst_error(all[i], *fit)});
  }
  plot.layout = {{"xaxis", axis("size", Scale::log)}, {"yaxis", axis("time", Scale::log)}};
  plot.x_unit = Unit::byte;
  plot.y_unit = Unit::second;
  section.plot = std::move(plot);
  section.rest = html_table(
      {"transfer", "latency>", "bandwidth>", "worst error of these two parameters>"}, rows);
  return section;
}

}  // namespace warpmeter
