// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/verdicts.h"

namespace warpmeter {

namespace {

std::string indented(const Json& document) {
  return escape_html(document.dump(1, ' ', false, Json::error_handler_t::replace));
}

// A run without its raw samples, which make up most of its size: the run document has them.
Json without_samples(const Run& run) {
  Json document = to_json(run);
  for (Json& measurement : document["measurements"]) measurement.erase("samples");
  return document;
}

std::string document_details(const std::string& title, const Json& document) {
  return fmt::format("<details class=\"raw\"><summary>{}</summary><pre>{}</pre></details>\n",
                     escape_html(title), indented(document));
}

std::string measurement_table(const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const Measurement& m : run.measurements) {
    std::size_t samples = 0;
    for (const auto& campaign : m.samples) samples += campaign.size();
    rows.push_back({code(m.id), value_text(m.value, m.unit), interval_text(m.interval, m.unit),
                    fmt::format("{} / {}", m.samples.size(), samples), verdict_badge(m.verdict),
                    escape_html(m.reason)});
  }
  return html_table(
      {"measurement", "value>", "90 % interval>", "campaigns / samples>", "verdict", "why"}, rows);
}

std::string fact_table(const Facts& facts) {
  if (facts.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, fact] : facts) {
    const auto value = fact_number(facts, name);
    std::string text = fact.value.is_string() ? fact.value.get<std::string>() : fact.value.dump();
    if (value && fact.unit) text = value_text(value, *fact.unit);
    rows.push_back(
        {code(name), fact.value.is_null() ? "–" : escape_html(text), escape_html(fact.source)});
  }
  return "<h3>Facts of the device</h3>\n" + html_table({"fact", "value", "who says so"}, rows);
}

}  // namespace

Section provenance_section(const ReportInput& input) {
  Section section{"provenance", "Provenance", "", {}, ""};
  if (input.runs.empty() && !input.machine) {
    section.intro = paragraph("missing", "No run and no machine document was given.");
    return section;
  }
  section.intro =
      paragraph("how",
                "The documents behind this page, complete but for the raw samples, "
                "which are in the run documents. All numbers there are in SI base units.");
  section.rest = fact_table(input.runs.empty() ? input.machine->facts : input.runs.front().facts);
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    const Run& run = input.runs[i];
    section.rest += fmt::format(
        "<details class=\"raw\"><summary>Table of all measurements of run "
        "{}</summary>\n{}</details>\n",
        i + 1, measurement_table(run));
    section.rest +=
        document_details(fmt::format("Document of run {}: {}, {}, {} measurements", i + 1,
                                     run.device, to_string(run.source), run.measurements.size()),
                         without_samples(run));
  }
  if (input.machine) {
    section.rest +=
        document_details(fmt::format("Document of the machine: {}, {} parameters",
                                     input.machine->device, input.machine->parameters.size()),
                         to_json(*input.machine));
  }
  if (!input.validation.is_null()) {
    section.rest += document_details("Document of the validation", input.validation);
  }
  return section;
}

Section glossary_section() {
  Section section{"glossary", "Glossary", "", {}, ""};
  std::vector<std::vector<std::string>> rows = {{"Verdict of a measurement"}};
  for (const Verdict verdict : all_verdicts) {
    rows.push_back({verdict_badge(verdict), std::string(meaning(verdict))});
  }
  rows.push_back({"Status of a parameter"});
  for (const Status status : all_statuses) {
    rows.push_back({status_badge(status), std::string(meaning(status))});
  }
  section.rest = html_table({"word", "meaning"}, rows);
  return section;
}

}  // namespace warpmeter
