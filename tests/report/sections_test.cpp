// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include "core/error.h"
#include "report/report.h"
#include "report/section.h"
#include "report/series.h"
#include "report/validation_data.h"

namespace warpmeter {
namespace {

using testing::AssertionResult;

AssertionResult holds(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in " << text.substr(0, 2000);
}

Measurement measured(const std::string& quantity, Parameters parameters, double value, Unit unit) {
  Measurement m;
  m.id = measurement_id(quantity, parameters);
  m.quantity = quantity;
  m.parameters = std::move(parameters);
  m.value = value;
  m.unit = unit;
  return m;
}

Run chase_run() {
  warpmeter::Run run;
  run.device = "cpu";
  for (const double footprint : {4096.0, 8192.0, 16384.0}) {
    run.measurements.push_back(measured("latency.chase",
                                        {{"footprint", footprint}, {"page", "huge"}},
                                        footprint * 1e-13, Unit::second));
  }
  return run;
}

Parameter known(double value, Unit unit) {
  Parameter parameter;
  parameter.value = value;
  parameter.unit = unit;
  parameter.status = Status::measured;
  return parameter;
}

// The page without its scripts and styles.
std::string body_of(const ReportInput& input) {
  const std::string page = render_report(input);
  const auto begin = page.find("<main>");
  return page.substr(begin, page.find("</main>") - begin);
}

TEST(Report, HasEverySectionEvenOfNothing) {
  const std::string body = body_of({});
  for (const char* id :
       {"machine", "staircase", "footprint", "in-flight", "loaded", "transfer", "roofline",
        "prediction", "kernels", "missing", "provenance", "glossary"}) {
    EXPECT_TRUE(holds(body, std::string("<section id=\"") + id + "\">"));
  }
  EXPECT_EQ(body.find("data-figure"), std::string::npos) << "an empty plot";
  std::size_t reasons = 0;
  for (auto at = body.find("class=\"missing\""); at != std::string::npos;
       at = body.find("class=\"missing\"", at + 1)) {
    ++reasons;
  }
  EXPECT_EQ(reasons, 12u) << "the head and all sections but the glossary say what is missing";
}

TEST(Report, LoadsNothingFromANetwork) {
  const std::string page = render_report({});
  EXPECT_EQ(page.find("<script src"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_TRUE(holds(page.substr(page.find("plotly.js v"), 400), "MIT license"));
}

TEST(Report, MarksEmulatedAndPublished) {
  ReportInput input;
  input.runs.push_back(chase_run());
  EXPECT_EQ(body_of(input).find("banner"), std::string::npos);
  input.runs[0].source = Source::emulated;
  EXPECT_TRUE(holds(body_of(input), "class=\"banner emulated\""));
  input.runs[0].source = Source::published;
  EXPECT_TRUE(holds(body_of(input), "class=\"banner published\""));
  input.runs[0].complete = false;
  EXPECT_TRUE(holds(body_of(input), "class=\"banner partial\""));
}

TEST(Series, SplitsByEveryParameterButTheAbscissa) {
  ReportInput input;
  input.runs.push_back(chase_run());
  input.runs[0].measurements.push_back(
      measured("latency.chase", {{"footprint", 2048.0}, {"page", "4k"}}, 1e-9, Unit::second));
  const auto all = series_of(input, "latency.chase", "footprint");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "4 KiB pages");
  EXPECT_EQ(all[1].name, "huge pages");
  EXPECT_EQ(all[1].points.size(), 3u);
}

TEST(Series, KeepsTwoRunsApartAndSaysTheirSource) {
  ReportInput input;
  input.runs = {chase_run(), chase_run()};
  input.runs[1].source = Source::published;
  const auto all = series_of(input, "latency.chase", "footprint");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(holds(all[0].name, "run 1 (measured)"));
  EXPECT_TRUE(holds(all[1].name, "run 2 (published)"));
}

TEST(Series, FallsBackToTheCurvesOfTheMachine) {
  ReportInput input;
  input.machine.emplace();
  input.machine->curves.push_back({"bandwidth.read",
                                   {{"threads", 2.0}},
                                   "footprint",
                                   Unit::byte,
                                   Unit::byte_per_second,
                                   {{4096, 1e9, {}}, {8192, 2e9, {}}},
                                   {}});
  const Section section = footprint_section(input);
  ASSERT_TRUE(section.plot);
  EXPECT_EQ(section.plot->data.at(0).at("x"), Json({4096, 8192}));
}

TEST(Series, SaysWhyThereIsNone) {
  ReportInput input;
  warpmeter::Run run;
  run.measurements.push_back(measured("latency.loaded", {{"load", 1.0}}, 1, Unit::second));
  run.measurements[0].value.reset();
  run.measurements[0].verdict = Verdict::unsupported;
  run.measurements[0].reason = "only <one> core";
  input.runs.push_back(run);
  EXPECT_TRUE(holds(loaded_section(input).intro, "unsupported: only &lt;one&gt; core"));
  EXPECT_TRUE(holds(transfer_section(input).intro, "No run document of this report holds"));
}

TEST(Staircase, MarksUnusablePointsAndKeepsThem) {
  ReportInput input;
  input.runs.push_back(chase_run());
  input.runs[0].measurements[1].verdict = Verdict::contaminated;
  const Section section = staircase_section(input);
  EXPECT_EQ(section.plot->data.at(0).at("marker").at("symbol"),
            Json({"circle", "x-thin-open", "circle"}));
}

TEST(Transfer, FindsTheWorstErrorOfTwoParameters) {
  ReportInput input;
  warpmeter::Run run;
  for (const auto& [size, seconds] : {std::pair{1e3, 2e-6}, {1e6, 1.25e-3}, {1e9, 1.0}}) {
    run.measurements.push_back(
        measured("transfer.time", {{"size", size}, {"direction", "h2d"}}, seconds, Unit::second));
  }
  input.runs.push_back(run);
  input.machine.emplace();
  input.machine->parameters["transfer.h2d.latency"] = known(1e-6, Unit::second);
  input.machine->parameters["transfer.h2d.bandwidth"] = known(1e9, Unit::byte_per_second);
  // 1 us + size / (1 GB/s): exact at both ends to 1e-6, 1.001 ms instead of 1.25 ms between.
  EXPECT_TRUE(holds(transfer_section(input).rest, "19.9 % at "));
}

TEST(MachineTable, FlagsBadEvidence) {
  ReportInput input;
  input.runs.push_back(chase_run());
  input.runs[0].measurements[2].verdict = Verdict::unstable;
  input.machine.emplace();
  Parameter& parameter = input.machine->parameters["latency.l1.hit"] = known(1e-9, Unit::second);
  for (const Measurement& m : input.runs[0].measurements) parameter.evidence.push_back(m.id);
  const std::string table = machine_section(input).rest;
  EXPECT_TRUE(holds(table, "1 unstable"));
  EXPECT_TRUE(holds(table, "<td class=\"num\">3</td>"));
}

TEST(Missing, ListsReasonsAndRemedies) {
  ReportInput input;
  input.machine.emplace();
  Parameter absent;
  absent.unit = Unit::second;
  absent.reason = "no data";
  input.machine->parameters["latency.l2.hit"] = absent;
  input.findings = Json::parse(
      R"([{"name": "perf", "status": "missing", "detail": "paranoid", "remedy": "sysctl x"}])");
  const std::string text = missing_section(input).rest;
  EXPECT_TRUE(holds(text, "no data"));
  EXPECT_TRUE(holds(text, "warpmeter bench latency.<wbr>chase"));
  EXPECT_TRUE(holds(text, "sysctl x"));
  input.findings = Json::parse(R"([{"status": "missing"}])");
  EXPECT_THROW(missing_section(input), InputError);
}

TEST(ValidationData, RefusesAnotherShape) {
  EXPECT_TRUE(validation_data(Json()).kernels.empty());
  EXPECT_THROW(validation_data(Json::object()), InputError);
  EXPECT_THROW(validation_data(Json::parse(R"({"rows": [{"id": 1}], "scores": [], "notes": []})")),
               InputError);
}

}  // namespace
}  // namespace warpmeter
