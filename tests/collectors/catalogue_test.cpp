// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/catalogue.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"

namespace warpmeter {
namespace {

Json document() {
  return Json::parse(R"({"schema": "warpmeter.metric_catalogue/1", "metrics": [
    {"id": "x.one", "unit": "B", "scale": 32, "scope": "context", "means": "m",
     "names": ["a__b.sum", "G.Set.a__c.avg.per_second"], "sets": ["memory", "links"]},
    {"id": "x.two", "unit": "1", "means": "m", "formula": "2 * x.one", "sets": []}]})");
}

TEST(Catalogue, ReadsWhatIsThere) {
  const Catalogue catalogue = Catalogue::read(document(), "f");
  ASSERT_EQ(catalogue.metrics().size(), 2U);
  const LogicalMetric& one = *catalogue.find("x.one");
  EXPECT_EQ(one.unit, Unit::byte);
  EXPECT_EQ(one.scale, 32);
  EXPECT_EQ(one.scope, CounterScope::context);
  EXPECT_EQ(one.names, (std::vector<std::string>{"a__b.sum", "G.Set.a__c.avg.per_second"}));
  EXPECT_TRUE(one.in("links"));
  EXPECT_FALSE(one.in("stalls"));
  EXPECT_EQ(catalogue.find("x.two")->formula->inputs(), std::vector<std::string>{"x.one"});
  EXPECT_EQ(catalogue.find("x.three"), nullptr);
  EXPECT_EQ(catalogue.of_set("memory").size(), 1U);
  EXPECT_TRUE(catalogue.of_set("stalls").empty());
  EXPECT_THROW(catalogue.of_set("stall"), InputError);
}

std::string refusal(const std::function<void(Json& document, Json& one, Json& two)>& damage) {
  Json changed = document();
  damage(changed, changed["metrics"][0], changed["metrics"][1]);
  try {
    (void)Catalogue::read(changed, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

struct Case {
  std::function<void(Json& document, Json& one, Json& two)> damage;
  const char* says;
};

TEST(Catalogue, RefusesWhatItCannotTrust) {
  const Case cases[] = {
      {[](Json& d, Json&, Json&) { d["schema"] = "x"; }, "f: schema \"x\""},
      {[](Json& d, Json&, Json&) { d["metrics"] = 3; }, "f: \"metrics\" is not a list"},
      {[](Json&, Json& one, Json&) { one.erase("id"); }, "\"id\""},
      {[](Json&, Json& one, Json&) { one["uint"] = "B"; }, "x.one: unknown key \"uint\""},
      {[](Json&, Json& one, Json&) { one["unit"] = "KB"; }, "f, metric x.one: "},
      {[](Json&, Json& one, Json&) { one["scale"] = 0; }, "x.one: \"scale\" must be above 0"},
      {[](Json&, Json& one, Json&) { one.erase("scope"); }, "\"scope\""},
      {[](Json&, Json& one, Json&) { one["scope"] = "gpu"; }, "unknown scope \"gpu\""},
      {[](Json&, Json&, Json& two) { two["scope"] = "any"; }, "a scope belongs to names"},
      {[](Json&, Json& one, Json&) { one["names"] = "a__b.sum"; }, "\"names\" is not a list"},
      {[](Json&, Json& one, Json&) {
         one["names"] = {"a__b.sum", 3};
       },
       "something else than text"},
      {[](Json&, Json& one, Json&) { one["names"] = {"a__b"}; }, "\"a__b\" lacks a roll-up"},
      {[](Json&, Json& one, Json&) { one["names"] = {"a__b.median"}; }, "lacks a roll-up"},
      {[](Json&, Json& one, Json&) {
         one["names"] = {"a__b.sum", "a__b.sum"};
       },
       "twice"},
      {[](Json&, Json&, Json& two) { two.erase("formula"); }, "neither names nor a formula"},
      {[](Json&, Json&, Json& two) { two["formula"] = "x.one +"; }, "x.two: formula \"x.one +\""},
      {[](Json&, Json&, Json& two) { two["formula"] = "x.no"; }, "uses \"x.no\", which is not"},
      {[](Json&, Json&, Json& two) { two["formula"] = "x.two"; }, "leads back to itself"},
      {[](Json&, Json& one, Json&) { one["formula"] = "x.two"; }, "leads back to itself"},
      {[](Json&, Json& one, Json&) { one["sets"] = {"all"}; }, "unknown set \"all\""},
      {[](Json&, Json&, Json& two) { two["id"] = "x.one"; }, "metric x.one is there twice"},
      {[](Json&, Json&, Json& two) {
         two["names"] = {"a__b.sum"};
         two["scope"] = "any";
       },
       "another metric has the name \"a__b.sum\" too"},
  };
  for (const Case& c : cases) {
    const std::string said = refusal(c.damage);
    EXPECT_NE(said.find(c.says), std::string::npos) << c.says << "\n got: " << said;
  }
}

TEST(Catalogue, BuiltInIsReadAndNoSetIsEmpty) {
  const Catalogue& catalogue = Catalogue::built_in();
  for (const std::string& set : metric_sets()) EXPECT_GT(catalogue.of_set(set).size(), 5U) << set;
  for (const LogicalMetric& metric : catalogue.metrics()) {
    for (const std::string& name : metric.names) {
      const bool sass = name.find("__sass_") != std::string::npos;
      EXPECT_EQ(sass, metric.scope == CounterScope::instrumented) << name;
    }
  }
}

}  // namespace
}  // namespace warpmeter
