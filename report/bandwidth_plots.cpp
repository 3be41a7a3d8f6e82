// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"

namespace warpmeter {

namespace {

bool one_core(const Series& series) { return number(series.fixed, "threads").value_or(0) == 1; }

// Bandwidth B and latency L of the fit give the two asymptotes n / L and B; they meet at the
// concurrency.
void add_fit(const Machine& machine, const Range& range, Json& data) {
  const auto bandwidth = value_of(machine, "bandwidth.dram.saturated.core");
  const auto latency = value_of(machine, "latency.dram.in_flight");
  if (!bandwidth || !latency) return;
  Line fit{fmt::format("fit: min(n / {}, {})", si_text(*latency, Unit::second),
                       si_text(*bandwidth, Unit::byte_per_second)),
           {},
           {},
           "#000000",
           "dash"};
  for (const double n : log_spaced(range.lo, range.hi, 200)) {
    fit.x.push_back(n);
    fit.y.push_back(std::min(n / *latency, *bandwidth));
  }
  data.push_back(line_trace(fit));
}

}  // namespace

Section footprint_section(const ReportInput& input) {
  Section section{"footprint", "Bandwidth against footprint", "", {}, ""};
  static constexpr std::array<std::string_view, 4> operations = {"read", "write", "copy", "triad"};
  Plot plot;
  std::vector<Series> drawn;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string quantity = fmt::format("bandwidth.{}", operations[i]);
    for (const Series& series : series_of(input, quantity, "footprint")) {
      const std::string name =
          fmt::format("{}{}{}", operations[i], series.name.empty() ? "" : ", ", series.name);
      plot.data.push_back(
          measured_trace(series.points, name, {i, i, one_core(series) ? "open" : "full"}));
      drawn.push_back(series);
    }
  }
  const auto range = x_range(drawn);
  if (!range) {
    section.intro = paragraph("missing", why_missing(input, "bandwidth.read"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "Bytes that the program reads plus writes, over time, against the size of all arrays "
      "together; each step down is a level that no longer holds them. Colour is the operation, "
      "open symbols are one core and full ones all cores; write-allocate traffic is not counted.");
  plot.layout = {{"xaxis", axis("footprint", Scale::log)},
                 {"yaxis", axis("bandwidth", Scale::log)}};
  plot.x_unit = Unit::byte;
  plot.y_unit = Unit::byte_per_second;
  section.plot = std::move(plot);
  return section;
}

Section in_flight_section(const ReportInput& input) {
  Section section{"in-flight", "Bandwidth against bytes in flight", "", {}, ""};
  const auto all = series_of(input, "bandwidth.in_flight", "in_flight");
  const auto range = x_range(all);
  if (!range) {
    section.intro = paragraph("missing", why_missing(input, "bandwidth.in_flight"));
    return section;
  }
  section.intro = paragraph(
      "how",
      "Random independent loads, more and more of them at a time: at first the bandwidth is the "
      "bytes in flight over the latency (Little's law), then it saturates. The dashed line shows "
      "the two asymptotes of the fit; where they meet is the concurrency that the memory needs.");
  Plot plot;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name.empty() ? "measured" : all[i].name;
    plot.data.push_back(measured_trace(all[i].points, name, {i, i, "full", "markers"}));
  }
  if (input.machine && range->lo > 0) add_fit(*input.machine, *range, plot.data);
  plot.layout = {{"xaxis", axis("bytes in flight", Scale::log)},
                 {"yaxis", axis("bandwidth", Scale::log)}};
  plot.x_unit = Unit::byte;
  plot.y_unit = Unit::byte_per_second;
  section.plot = std::move(plot);
  return section;
}

}  // namespace warpmeter
