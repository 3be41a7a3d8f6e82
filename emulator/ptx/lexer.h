// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string_view>

namespace emulator::ptx {

enum class TokenKind : std::uint8_t { end, word, integer, real32, real64, text, punctuation };

// A word may hold dots and "::", so that an opcode or a directive is one token. `bits` is the value
// of an integer and the bit pattern of a real.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::uint64_t bits = 0;
  std::uint32_t line = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();  // throws std::runtime_error with the line for a character that PTX does not have

 private:
  void skip_space();
  Token word();
  Token number();
  Token string();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace emulator::ptx
