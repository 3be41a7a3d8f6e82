// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/report.h"

#include <fmt/format.h>

#include "report/assets.h"
#include "report/html.h"
#include "report/section.h"

namespace warpmeter {

namespace {

std::string title_of(const ReportInput& input) {
  if (!input.runs.empty()) return "warpmeter: " + input.runs.front().device;
  return input.machine ? "warpmeter: " + input.machine->device : "warpmeter";
}

std::string navigation(const std::vector<Section>& sections) {
  std::string out = "<nav><div>";
  for (const Section& section : sections) {
    out += fmt::format("<a href=\"#{}\">{}</a>", section.id, escape_html(section.title));
  }
  return out + "</div></nav>\n";
}

// `figures` maps ids to figures; page.js finds them through data-figure.
std::string section_html(const Section& section, Json& figures) {
  std::string out = fmt::format("<section id=\"{}\">\n<div class=\"figure\">\n<h2>{}</h2>\n{}",
                                section.id, escape_html(section.title), section.intro);
  if (section.plot) {
    const Plot& plot = *section.plot;
    figures[section.id] = {
        {"data", plot.data},
        {"layout", plot.layout},
        {"units", {{"x", to_string(plot.x_unit)}, {"y", to_string(plot.y_unit)}}}};
    out += fmt::format(
        "<div class=\"plot {}\" data-figure=\"{}\" role=\"img\" aria-label=\"{}\"><noscript>The "
        "plot "
        "needs JavaScript; the tables do not.</noscript></div>\n",
        plot.shape, section.id, escape_html(section.title));
  }
  return out + "</div>\n" + section.rest + "</section>\n";
}

}  // namespace

std::string render_report(const ReportInput& input) {
  const std::vector<Section> sections = {
      machine_section(input),   staircase_section(input),  footprint_section(input),
      in_flight_section(input), loaded_section(input),     transfer_section(input),
      roofline_section(input),  prediction_section(input), kernel_section(input),
      missing_section(input),   provenance_section(input), glossary_section()};
  Json figures = Json::object();
  std::string body;
  for (const Section& section : sections) body += section_html(section, figures);

  std::string out;
  out.reserve(plotly_js().size() + body.size() + (std::size_t{1} << 20));
  out +=
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += escape_html(title_of(input));
  out += "</title>\n<style>\n";
  out += page_css();
  out += "</style>\n</head>\n<body>\n<div id=\"script-errors\" role=\"alert\"></div>\n";
  out += navigation(sections);
  out += "<main>\n" + headline(input) + body + "</main>\n";
  out +=
      "<script type=\"application/json\" id=\"figures\">" + json_in_script(figures) + "</script>\n";
  out += "<script>\n";
  out += page_js();
  out += "</script>\n<script>\n";
  out += plotly_js();
  out += "\n</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace warpmeter
