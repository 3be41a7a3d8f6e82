// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr int max_depth = 32;  // of parentheses: the parser recurses

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_id_start(char c) { return c >= 'a' && c <= 'z'; }
bool is_id(char c) { return is_id_start(c) || is_digit(c) || c == '_' || c == '.'; }

}  // namespace

// sum := product {(+|-) product}; product := term {(*|/) term}; term := number | id | ( sum )
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) { formula_.text_ = text; }

  Formula parse() {
    sum(0);
    if (peek() != '\0') fail("an operator was expected");
    if (formula_.inputs_.empty()) fail("it uses no metric");
    return std::move(formula_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("formula \"{}\", character {}: {}", text_, at_ + 1, what));
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void operation(char kind) { formula_.steps_.push_back({kind, 0, 0}); }

  void sum(int depth) {
    product(depth);
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      product(depth);
      operation(c);
    }
  }

  void product(int depth) {
    term(depth);
    for (char c = peek(); c == '*' || c == '/'; c = peek()) {
      ++at_;
      term(depth);
      operation(c);
    }
  }

  void term(int depth) {
    const char c = peek();
    if (c == '(') {
      if (depth == max_depth) fail("parentheses nest too deeply");
      ++at_;
      sum(depth + 1);
      if (peek() != ')') fail("\")\" was expected");
      ++at_;
    } else if (is_digit(c)) {
      number();
    } else if (is_id_start(c)) {
      id();
    } else {
      fail("a number, a metric or \"(\" was expected");
    }
  }

  void number() {
    double value = 0;
    const char* end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + at_, end, value);
    if (read.ec != std::errc()) fail("not a number");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    formula_.steps_.push_back({'#', value, 0});
  }

  void id() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_id(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    auto& inputs = formula_.inputs_;
    const auto found = std::find(inputs.begin(), inputs.end(), name);
    const auto index = static_cast<std::size_t>(found - inputs.begin());
    if (found == inputs.end()) inputs.push_back(name);
    formula_.steps_.push_back({'@', 0, index});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Formula formula_;
};

Formula Formula::parse(std::string_view text) { return FormulaParser(text).parse(); }

std::optional<double> Formula::evaluate(
    const std::function<std::optional<double>(const std::string&)>& value_of) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.kind == '#') {
      stack.push_back(step.number);
    } else if (step.kind == '@') {
      const auto value = value_of(inputs_[step.input]);
      if (!value) return std::nullopt;
      stack.push_back(*value);
    } else {
      const double right = stack.back();
      stack.pop_back();
      double& left = stack.back();
      switch (step.kind) {
        case '+':
          left += right;
          break;
        case '-':
          left -= right;
          break;
        case '*':
          left *= right;
          break;
        default:
          left /= right;
      }
    }
  }
  return std::isfinite(stack.back()) ? std::optional(stack.back()) : std::nullopt;
}

}  // namespace warpmeter
