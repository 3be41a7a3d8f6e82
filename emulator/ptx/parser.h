// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "emulator/ptx/lexer.h"
#include "emulator/ptx/module.h"

namespace emulator::ptx {

// Recursive descent over one module. Split over parser.cpp (module level), and parser_body.cpp
// (functions' bodies).
class Parser {
 public:
  explicit Parser(Module& module) : module_(module), lexer_(module.text) { advance(); }
  void run();

 private:
  struct Name {
    bool is_register = false;
    int index = 0;
  };
  struct Scope {
    int id = 0;
    std::map<std::string_view, Name> names;
  };

  void advance() { token_ = lexer_.next(); }
  bool at(std::string_view text) const {
    return token_.kind != TokenKind::text && token_.text == text;
  }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string_view word();
  std::uint64_t integer();
  [[noreturn]] void fail(std::string_view what) const;
  void skip_past(std::string_view text);
  void skip_section();

  Variable variable(Space space);
  void initializer(Variable& variable);
  void initial_value(Variable& variable, std::uint64_t bytes);
  void function(std::string_view directive);
  std::vector<Variable> parameters();
  bool directive_of_function(Function& function);
  std::array<std::uint32_t, 3> triple();

  void body(Function& function);
  void statement(Function& function);
  void registers(Function& function);
  void instruction(Function& function);
  void operands(Instruction& instruction);
  Operand operand();
  Operand simple_operand();
  Operand address();
  Operand group(std::string_view close, OperandKind kind);
  void declare(Function& function, Variable&& variable);
  const Name* find(std::string_view name) const;

  Module& module_;
  Lexer lexer_;
  Token token_;
  std::vector<Scope> scopes_;
  int depth_ = 0;  // of braces within braces
};

}  // namespace emulator::ptx
