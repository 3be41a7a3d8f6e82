// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

// A logical metric computed from others: numbers, ids of metrics, + - * / and parentheses, as in
// "32 * l2.sectors_read_miss".
class Formula {
 public:
  // Throws InputError: what is wrong, and at which character (from 1).
  static Formula parse(std::string_view text);

  const std::string& text() const { return text_; }

  // Ids in it, each once, in order of first use. Never empty: parse refuses a constant.
  const std::vector<std::string>& inputs() const { return inputs_; }

  // Nothing if an input has no value, or if the result is not finite (a division by zero).
  std::optional<double> evaluate(
      const std::function<std::optional<double>(const std::string&)>& value_of) const;

 private:
  friend class FormulaParser;

  // In postfix order: '#' pushes `number`, '@' pushes the value of inputs_[input], else an
  // operator.
  struct Step {
    char kind;
    double number;
    std::size_t input;
  };

  std::string text_;
  std::vector<std::string> inputs_;
  std::vector<Step> steps_;
};

}  // namespace warpmeter
