// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/formula.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"

namespace warpmeter {
namespace {

const std::map<std::string, double> values = {{"a", 3}, {"b.c", 5}, {"zero", 0}};

std::optional<double> value_of(const std::string& id) {
  const auto found = values.find(id);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> evaluate(const std::string& text) {
  return Formula::parse(text).evaluate(value_of);
}

TEST(Formula, FollowsThePrecedenceOfArithmetic) {
  EXPECT_EQ(evaluate("a"), 3);
  EXPECT_EQ(evaluate("1 + 2 * a"), 7);
  EXPECT_EQ(evaluate("(1 + 2) * a"), 9);
  EXPECT_EQ(evaluate("b.c - a - 1"), 1);
  EXPECT_EQ(evaluate("30 / a / 2"), 5);
  EXPECT_EQ(evaluate("30/(a*2)"), 5);
  EXPECT_EQ(evaluate("1.5e1 * b.c"), 75);
  EXPECT_EQ(evaluate("a - (b.c - (a - 1))"), 0);
}

TEST(Formula, HasNoValueWhereThereIsNone) {
  EXPECT_EQ(evaluate("a / zero"), std::nullopt);
  EXPECT_EQ(evaluate("zero / zero"), std::nullopt);
  EXPECT_EQ(evaluate("a + unknown"), std::nullopt);
}

TEST(Formula, NamesItsInputsOnce) {
  EXPECT_EQ(Formula::parse("b.c / (a + b.c)").inputs(), (std::vector<std::string>{"b.c", "a"}));
}

std::string refusal(const std::string& text) {
  try {
    (void)Formula::parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Formula, SaysWhereItIsWrong) {
  EXPECT_EQ(refusal("a + "),
            "formula \"a + \", character 5: a number, a metric or \"(\" was expected");
  EXPECT_EQ(refusal("a b.c"), "formula \"a b.c\", character 3: an operator was expected");
  EXPECT_EQ(refusal("(a"), "formula \"(a\", character 3: \")\" was expected");
  EXPECT_EQ(refusal("2 * 3"), "formula \"2 * 3\", character 6: it uses no metric");
  for (const char* bad : {"", "*a", "a)", "a ** a", "-a", "A", "a % 2", "1e999 * a"})
    EXPECT_NE(refusal(bad), "accepted") << bad;
  EXPECT_NE(refusal(std::string(100'000, '(') + "a").find("nest too deeply"), std::string::npos);
}

}  // namespace
}  // namespace warpmeter
