// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/ptx/lexer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace emulator::ptx {
namespace {

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::uint64_t parse_integer(std::string_view digits, int base) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

}  // namespace

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t close = text_.find("*/", at_ + 2);
      const std::size_t end = close == std::string_view::npos ? text_.size() : close + 2;
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  if (at_ == text_.size()) return {TokenKind::end, {}, 0, line_};
  const char c = text_[at_];
  if (is_digit(c)) return number();
  if (starts_word(c)) return word();
  if (c == '"') return string();
  if (std::string_view("{}[]()<>,;:=+-!|@&*/~^").find(c) == std::string_view::npos) {
    throw std::runtime_error(fmt::format("PTX line {}: unexpected character '{}'", line_, c));
  }
  return {TokenKind::punctuation, text_.substr(at_++, 1), 0, line_};
}

Token Lexer::word() {
  const std::size_t begin = at_++;
  while (at_ < text_.size()) {
    if (starts_word(text_[at_]) || is_digit(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "::") {
      at_ += 2;
    } else {
      break;
    }
  }
  return {TokenKind::word, text_.substr(begin, at_ - begin), 0, line_};
}

Token Lexer::string() {
  const std::size_t close = text_.find('"', at_ + 1);
  if (close == std::string_view::npos) {
    throw std::runtime_error(fmt::format("PTX line {}: string without end", line_));
  }
  Token token{TokenKind::text, text_.substr(at_ + 1, close - at_ - 1), 0, line_};
  at_ = close + 1;
  return token;
}

Token Lexer::number() {
  const std::size_t begin = at_;
  const char kind = begin + 1 < text_.size() && text_[begin] == '0' ? text_[begin + 1] : '\0';
  Token token{TokenKind::integer, {}, 0, line_};
  if (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D' || kind == 'x' || kind == 'X') {
    at_ += 2;
    const std::size_t digits = at_;
    while (at_ < text_.size() && is_hex(text_[at_])) ++at_;
    token.bits = parse_integer(text_.substr(digits, at_ - digits), 16);
    if (kind == 'f' || kind == 'F') token.kind = TokenKind::real32;
    if (kind == 'd' || kind == 'D') token.kind = TokenKind::real64;
  } else {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      const std::string rest(text_.substr(begin, 64));
      char* end = nullptr;
      token.kind = TokenKind::real64;
      token.bits = std::bit_cast<std::uint64_t>(std::strtod(rest.c_str(), &end));
      at_ = begin + static_cast<std::size_t>(end - rest.c_str());
    } else {
      const bool octal = text_[begin] == '0' && at_ > begin + 1;
      token.bits = parse_integer(text_.substr(begin, at_ - begin), octal ? 8 : 10);
    }
  }
  if (at_ < text_.size() && text_[at_] == 'U') ++at_;
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

}  // namespace emulator::ptx
