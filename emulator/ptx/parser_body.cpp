// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <charconv>

#include "emulator/ptx/parser.h"

namespace emulator::ptx {

const Parser::Name* Parser::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

void Parser::declare(Function& function, Variable&& variable) {
  function.variables.push_back(std::move(variable));
  module_.names.push_back(function.variables.back().name);
  const std::string_view name = module_.names.back();
  scopes_.back().names[name] = {false, static_cast<int>(function.variables.size()) - 1};
}

void Parser::body(Function& function) {
  function.defined = true;
  expect("{");
  scopes_.clear();
  scopes_.push_back({0, {}});
  function.scope_parents = {-1};
  for (const Variable& param : function.params) declare(function, Variable(param));
  for (const Variable& result : function.results) declare(function, Variable(result));
  while (!scopes_.empty()) statement(function);
}

void Parser::statement(Function& function) {
  if (accept("{")) {
    const int id = static_cast<int>(function.scope_parents.size());
    function.scope_parents.push_back(scopes_.back().id);
    scopes_.push_back({id, {}});
  } else if (accept("}")) {
    scopes_.pop_back();
  } else if (accept(".reg")) {
    registers(function);
  } else if (accept(".loc")) {
    integer();
    integer();
    integer();
    while (accept(",")) {
      if (word() == "function_name") word();
      while (accept("+") || token_.kind == TokenKind::integer) advance();
    }
  } else if (accept(".pragma")) {
    skip_past(";");
  } else if (at(".shared") || at(".local") || at(".param")) {
    const Space space = at(".shared") ? Space::shared : at(".local") ? Space::local : Space::param;
    advance();
    declare(function, variable(space));
    expect(";");
  } else if (token_.kind == TokenKind::end) {
    fail("a function without end");
  } else {
    instruction(function);
  }
}

// `.reg .b32 %r<10>;` declares %r0 to %r9; `.reg .pred p, q;` declares two.
void Parser::registers(Function& function) {
  const Type type = find_type(word().substr(1));
  if (type.kind == Kind::none) fail("expected a type");
  do {
    const std::string_view name = word();
    const auto add = [&](std::string_view full) {
      scopes_.back().names[full] = {true, static_cast<int>(function.registers.size())};
      function.registers.push_back({std::string(full), type});
    };
    if (!accept("<")) {
      add(name);
      continue;
    }
    const std::uint64_t count = integer();
    expect(">");
    if (count > 1 << 20) fail("too many registers");
    // Registers are found by a name with a number: keep the numbered names alive in the module.
    for (std::uint64_t i = 0; i < count; ++i) {
      module_.names.push_back(fmt::format("{}{}", name, i));
      add(module_.names.back());
    }
  } while (accept(","));
  expect(";");
}

void Parser::instruction(Function& function) {
  Instruction result;
  result.scope = scopes_.back().id;
  if (accept("@")) {
    result.guard_negated = accept("!");
    const Name* guard = find(word());
    if (guard == nullptr || !guard->is_register) fail("unknown predicate");
    result.guard = guard->index;
  }
  result.line = token_.line;
  result.opcode = word();
  if (accept(":")) {
    const auto at_code = static_cast<std::uint32_t>(function.code.size());
    function.labels[{result.scope, result.opcode}] = at_code;
    // `name: .branchtargets a, b;` and `name: .callprototype ...;`
    if (at(".branchtargets")) {
      advance();
      std::vector<std::string_view>& targets = function.branch_targets[result.opcode];
      do targets.push_back(word());
      while (accept(","));
      expect(";");
    } else if (at(".callprototype")) {
      skip_past(";");
    }
    return;
  }
  for (std::size_t begin = 0; begin <= result.opcode.size();) {
    const std::size_t end = std::min(result.opcode.find('.', begin), result.opcode.size());
    result.parts.push_back(result.opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  operands(result);
  function.code.push_back(std::move(result));
}

void Parser::operands(Instruction& instruction) {
  while (!accept(";")) {
    instruction.operands.push_back(operand());
    if (!at(";")) expect(",");
  }
}

Operand Parser::operand() {
  if (accept("{")) return group("}", OperandKind::vector);
  if (accept("(")) return group(")", OperandKind::list);
  if (accept("[")) return address();
  Operand first = simple_operand();
  if (!accept("|")) return first;
  Operand pair;
  pair.kind = OperandKind::pair;
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(simple_operand());
  return pair;
}

Operand Parser::group(std::string_view close, OperandKind kind) {
  Operand result;
  result.kind = kind;
  if (++depth_ > 64) fail("braces too deep");
  while (!accept(close)) {
    result.parts.push_back(operand());
    if (!at(close)) expect(",");
  }
  --depth_;
  return result;
}

Operand Parser::address() {
  Operand result;
  result.kind = OperandKind::address;
  result.parts.push_back(simple_operand());
  if (accept("+")) result.bits = integer();
  if (at("-")) result.bits = integer();
  while (accept(",")) result.parts.push_back(operand());
  expect("]");
  return result;
}

Operand Parser::simple_operand() {
  Operand result;
  result.negated = accept("!");
  if (token_.kind == TokenKind::integer || at("-")) {
    const bool negative = accept("-");
    result.kind = OperandKind::integer;
    if (token_.kind == TokenKind::real64) {
      result.kind = OperandKind::real64;
      result.bits = token_.bits ^ (std::uint64_t{negative} << 63);
    } else if (token_.kind == TokenKind::integer) {
      result.bits = negative ? 0 - token_.bits : token_.bits;
    } else {
      fail("expected a number");
    }
    advance();
    return result;
  }
  if (token_.kind == TokenKind::real32 || token_.kind == TokenKind::real64) {
    result.kind = token_.kind == TokenKind::real32 ? OperandKind::real32 : OperandKind::real64;
    result.bits = token_.bits;
    advance();
    return result;
  }
  result.name = word();
  if (const Name* found = find(result.name)) {
    result.kind = found->is_register ? OperandKind::reg : OperandKind::variable;
    result.index = found->index;
  } else if (result.name == "WARP_SZ") {
    result.kind = OperandKind::integer;
    result.bits = 32;
  } else if (result.name == "_") {
    result.kind = OperandKind::none;
  } else {
    result.kind = result.name.front() == '%' ? OperandKind::special : OperandKind::variable;
    if (result.kind == OperandKind::variable && accept("+")) result.bits = integer();
  }
  return result;
}

}  // namespace emulator::ptx
