// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/html.h"

#include <gtest/gtest.h>

#include "report/number_text.h"

namespace warpmeter {
namespace {

TEST(EscapeHtml, LeavesNothingThatEndsTextOrAttribute) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&amp;'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape_html("12 ns ± 3 %"), "12 ns ± 3 %");
}

TEST(JsonInScript, CannotCloseTheElementAndMeansTheSame) {
  const Json document = {{"</script><b>", {"<!--", "a < b", 1.5e-9}}};
  const std::string text = json_in_script(document);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(text), document);
}

TEST(JsonInScript, ReplacesBrokenUtf8) {
  EXPECT_EQ(json_in_script(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Code, BreaksAfterDotsAndEscapes) { EXPECT_EQ(code("a.b<"), "<code>a.<wbr>b&lt;</code>"); }

TEST(HtmlTable, MarksNumbersAndSubheadings) {
  const std::string table = html_table({"name", "value>"}, {{"Group"}, {"x", "1 ns"}});
  EXPECT_NE(table.find("<th scope=\"col\" class=\"num\">value</th>"), std::string::npos) << table;
  EXPECT_NE(table.find("<th scope=\"rowgroup\" colspan=\"2\">Group</th>"), std::string::npos);
  EXPECT_NE(table.find("<td>x</td><td class=\"num\">1 ns</td>"), std::string::npos);
}

TEST(IntervalText, SaysTheUnitOnceWhereItIsTheSame) {
  EXPECT_EQ(interval_text(Interval{1.18e-9, 1.25e-9}, Unit::second), "1.180 – 1.250 ns");
  EXPECT_EQ(interval_text(Interval{987e-9, 1.02e-6}, Unit::second), "987.0 ns – 1.020 µs");
  EXPECT_EQ(interval_text(Interval{29491.2, 49152}, Unit::byte), "28.8 – 48 KiB");
  EXPECT_EQ(interval_text(std::nullopt, Unit::second), "");
}

TEST(RelativeIntervalText, IsRelativeToTheValue) {
  EXPECT_EQ(relative_interval_text(200.0, Interval{190, 206}), "-5.0 % / +3.0 %");
  EXPECT_EQ(relative_interval_text(200.0, Interval{190, 210}), "±5.0 %");
  EXPECT_EQ(relative_interval_text(0.0, Interval{0, 1}), "");
  EXPECT_EQ(relative_interval_text(std::nullopt, Interval{0, 1}), "");
}

TEST(ValueText, OfNothingIsADash) {
  EXPECT_EQ(value_text(std::nullopt, Unit::second), "–");
  EXPECT_EQ(value_text(0.0, Unit::second), "0.000 s");
  EXPECT_EQ(value_text(-3.0, Unit::byte), "-3 B");
}

TEST(ParametersText, ReadsLikeALegend) {
  EXPECT_EQ(parameters_text({{"page", "4k"}, {"threads", 1.0}, {"footprint", 1073741824.0}}),
            "footprint 1 GiB, 4 KiB pages, 1 thread");
}

}  // namespace
}  // namespace warpmeter
