// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <map>

#include "report/html.h"
#include "report/kernels.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/validation_data.h"
#include "report/verdicts.h"

namespace warpmeter {

namespace {

std::string bound_text(const KernelRow& row) {
  if (!row.bound_s) return "–";
  return escape_html(row.bound) + " " + percent_text(*row.bound_s / row.time_s);
}

std::vector<std::string> cells(const KernelRow& row, const PredictedKernel* prediction) {
  const bool has_work = row.measurement->work.has_value();
  const auto predicted = prediction ? prediction->model_s : std::nullopt;
  const auto error = predicted ? std::optional<double>(*predicted / row.time_s - 1) : std::nullopt;
  std::string name = escape_html(row.kernel) + " " + escape_html(row.type);
  if (!row.split.empty()) name += " " + badge("none", row.split == "fit" ? "fit" : "held out");
  if (row.measurement->verdict != Verdict::ok)
    name += " " + verdict_badge(row.measurement->verdict);
  return {name + "<span class=\"note\">" + escape_html(row.shape) + "</span>",
          si_text(row.time_s, Unit::second),
          relative_interval_text(row.time_s, row.measurement->interval),
          has_work && row.ops > 0 ? si_text(row.ops / row.time_s, Unit::op_per_second) : "–",
          has_work ? si_text(row.bytes / row.time_s, Unit::byte_per_second) : "–",
          bound_text(row),
          value_text(predicted, Unit::second),
          signed_percent_text(error)};
}

}  // namespace

Section kernel_section(const ReportInput& input) {
  Section section{"kernels", "Kernels", "", {}, ""};
  const std::vector<KernelRow> rows = kernel_rows(input);
  if (rows.empty()) {
    section.intro = paragraph("missing", why_missing(input, "kernel.time"));
    return section;
  }
  const ValidationData data = validation_data(input.validation);
  std::map<std::string, const PredictedKernel*> predictions;
  for (const PredictedKernel& prediction : data.kernels) {
    predictions[prediction.id] = &prediction;
  }
  section.intro =
      paragraph("how",
                "Rates are compulsory work over measured time, so caches can lift B/s above "
                "DRAM's. The bound "
                "is the resource that alone would take longest at its measured ceiling, with the "
                "share of the "
                "measured time that it explains: 100 % is a kernel that cannot get faster.");
  std::vector<std::vector<std::string>> table;
  for (const std::string& family : families(input)) {
    table.push_back({escape_html(family.empty() ? "other" : family)});
    for (const KernelRow& row : rows) {
      if (row.family != family) continue;
      const auto found = predictions.find(row.measurement->id);
      table.push_back(cells(row, found == predictions.end() ? nullptr : found->second));
    }
  }
  section.rest = html_table(
      {"kernel", "time>", "90 % interval>", "op/s>", "B/s>", "bound>", "predicted>", "error>"},
      table);
  return section;
}

}  // namespace warpmeter
