// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>

#include "report/plot.h"
#include "report/report.h"

namespace warpmeter {

// One section of the page: heading, intro, plot if there is one, rest.
struct Section {
  std::string id;     // anchor
  std::string title;  // plain text
  std::string intro;  // HTML: how to read the plot, or why there is none
  std::optional<Plot> plot;
  std::string rest;  // HTML
};

// In the order of the page. Each works on any input, empty ones included.
Section machine_section(const ReportInput& input);    // machine_table.cpp
Section staircase_section(const ReportInput& input);  // latency_plots.cpp
Section loaded_section(const ReportInput& input);
Section footprint_section(const ReportInput& input);  // bandwidth_plots.cpp
Section in_flight_section(const ReportInput& input);
Section transfer_section(const ReportInput& input);    // transfer_plot.cpp
Section roofline_section(const ReportInput& input);    // roofline_plot.cpp
Section prediction_section(const ReportInput& input);  // prediction_plot.cpp
Section kernel_section(const ReportInput& input);      // kernel_table.cpp
Section missing_section(const ReportInput& input);     // missing.cpp
Section provenance_section(const ReportInput& input);  // provenance.cpp
Section glossary_section();

// The head of the page: what was measured, how, and the numbers that most readers came for.
std::string headline(const ReportInput& input);  // headline.cpp

}  // namespace warpmeter
