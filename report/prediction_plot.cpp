// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/html.h"
#include "report/kernels.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/validation_data.h"

namespace warpmeter {

namespace {

std::string hover_of(const PredictedKernel& kernel) {
  std::string text =
      fmt::format("{}<br>measured {}, predicted {} ({})", escape_html(kernel.id),
                  si_text(*kernel.measured_s, Unit::second), si_text(*kernel.model_s, Unit::second),
                  signed_percent_text(*kernel.model_s / *kernel.measured_s - 1));
  if (kernel.interval) text += "<br>90 %: " + interval_text(kernel.interval, Unit::second);
  if (!kernel.bound.empty()) text += "<br>bound: " + escape_html(kernel.bound);
  return text;
}

Json split_trace(const ValidationData& data, const std::string& family, const std::string& split,
                 std::size_t index) {
  std::vector<SeriesPoint> points;
  for (const PredictedKernel& kernel : data.kernels) {
    if (kernel.family != family || kernel.split != split || !kernel.drawable()) continue;
    points.push_back(
        {*kernel.measured_s, *kernel.model_s, kernel.interval, Verdict::ok, hover_of(kernel)});
  }
  if (points.empty()) return nullptr;
  const bool fitted = split == "fit";
  Json trace = measured_trace(points, fitted ? family + " (fit)" : family,
                              {index, index, fitted ? "open" : "full", "markers"});
  return trace;
}

void add_band(const Range& range, Json& data) {
  for (const double factor : {1.0, 1.15, 0.85}) {
    Line line{factor == 1 ? "predicted = measured" : "±15 %",
              {range.lo, range.hi},
              {range.lo * factor, range.hi * factor},
              factor == 1 ? "#333333" : "#888888",
              factor == 1 ? "solid" : "dot"};
    Json trace = line_trace(line);
    trace["showlegend"] = factor != 0.85;
    data.push_back(trace);
  }
}

Plot plot_of(const ValidationData& data) {
  Plot plot;
  std::vector<std::string> all;
  Range range{1e300, 0};
  for (const PredictedKernel& kernel : data.kernels) {
    if (!kernel.drawable()) continue;
    if (std::find(all.begin(), all.end(), kernel.family) == all.end()) all.push_back(kernel.family);
    range.lo = std::min({range.lo, *kernel.measured_s, *kernel.model_s});
    range.hi = std::max({range.hi, *kernel.measured_s, *kernel.model_s});
  }
  range = {range.lo / 1.5, range.hi * 1.5};
  add_band(range, plot.data);
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool in_legend = false;  // one entry for both splits
    for (const char* split : {"held_out", "fit"}) {
      Json trace = split_trace(data, all[i], split, i);
      if (trace.is_null()) continue;
      trace["showlegend"] = std::exchange(in_legend, true) == false;
      plot.data.push_back(std::move(trace));
    }
  }
  plot.layout = {{"xaxis", axis("measured time", Scale::log)},
                 {"yaxis", axis("predicted time", Scale::log)}};
  plot.x_unit = Unit::second;
  plot.y_unit = Unit::second;
  plot.shape = "square";
  return plot;
}

// One block of rows for each group of kernels; only its first row names it.
std::string score_table(const ValidationData& data, std::string_view split) {
  std::vector<std::vector<std::string>> rows;
  std::string last;
  for (const ErrorScore& score : data.scores) {
    if (score.split != split) continue;
    const std::string group = score.name.empty() ? score.group : score.group + " " + score.name;
    rows.push_back({group == last ? "" : escape_html(group), escape_html(score.predictor),
                    fmt::format("{:g} of {:g}", score.n, score.rows), percent_text(score.mape),
                    score.mape_interval ? percent_text(score.mape_interval->lo) + " – " +
                                              percent_text(score.mape_interval->hi)
                                        : "",
                    percent_text(score.median), percent_text(score.p90),
                    signed_percent_text(score.bias), percent_text(score.within)});
    last = group;
  }
  if (rows.empty()) return "";
  return html_table({"kernels", "predictor", "n>", "MAPE>", "90 % interval>", "median>", "p90>",
                     "bias>", "inside interval>"},
                    rows);
}

std::string score_tables(const ValidationData& data) {
  const std::string fit = score_table(data, "fit");
  return "<h3>Errors on held-out shapes</h3>\n" +
         paragraph("how",
                   "Of predicted / measured - 1: mean, median and 90th percentile of its size, and "
                   "its signed mean. A model is worth its parameters only if it beats both "
                   "baselines here.") +
         score_table(data, "held_out") +
         (fit.empty() ? ""
                      : "<details><summary>Errors on the fitting shapes</summary>\n" + fit +
                            "</details>\n");
}

std::string excluded_table(const ValidationData& data) {
  std::vector<std::vector<std::string>> rows;
  for (const PredictedKernel& kernel : data.kernels) {
    if (!kernel.excluded.empty()) rows.push_back({code(kernel.id), escape_html(kernel.excluded)});
  }
  if (rows.empty()) return "";
  return "<h3>Left out of the errors</h3>\n" + html_table({"kernel", "why"}, rows);
}

}  // namespace

Section prediction_section(const ReportInput& input) {
  Section section{"prediction", "Predicted against measured", "", {}, ""};
  const ValidationData data = validation_data(input.validation);
  const bool any = std::any_of(data.kernels.begin(), data.kernels.end(),
                               [](const PredictedKernel& k) { return k.drawable(); });
  if (!any) {
    section.intro =
        paragraph("missing", input.validation.is_null()
                                 ? "No validation was given: it needs a machine and "
                                   "measured kernels. " +
                                       why_missing(input, "kernel.time")
                                 : "No kernel has both a measured and a predicted time.");
  } else {
    section.intro = paragraph(
        "how",
        "A kernel on the diagonal took as long as predicted; dotted lines are 15 % off, bars the "
        "90 % interval of the prediction. Full symbols are shapes that were held out, open ones "
        "were used to fit overlap and overhead: only the full ones test the model.");
    section.plot = plot_of(data);
  }
  if (!data.scores.empty()) section.rest = score_tables(data);
  for (const std::string& note : data.notes) section.rest += paragraph("how", escape_html(note));
  section.rest += excluded_table(data);
  return section;
}

}  // namespace warpmeter
