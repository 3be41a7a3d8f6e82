// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/ptx/parser.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <stdexcept>

namespace emulator::ptx {
namespace {

constexpr std::uint64_t largest_variable = std::uint64_t{1} << 32;     // elements
constexpr std::uint64_t largest_initialized = std::uint64_t{1} << 30;  // B
constexpr int deepest = 64;

std::optional<Space> space_of(std::string_view directive) {
  if (directive == ".global") return Space::global;
  if (directive == ".const") return Space::constant;
  if (directive == ".shared") return Space::shared;
  if (directive == ".local") return Space::local;
  if (directive == ".param") return Space::param;
  return std::nullopt;
}

}  // namespace

Module parse(std::string text) {
  Module module;
  module.text = std::move(text);
  Parser(module).run();
  return module;
}

void Parser::fail(std::string_view what) const {
  throw std::runtime_error(
      fmt::format("PTX line {}: {} at \"{}\"", token_.line, what, token_.text));
}

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("expected \"{}\"", text));
}

std::string_view Parser::word() {
  if (token_.kind != TokenKind::word) fail("expected a name");
  const std::string_view text = token_.text;
  advance();
  return text;
}

std::uint64_t Parser::integer() {
  const bool negative = accept("-");
  if (token_.kind != TokenKind::integer) fail("expected a number");
  const std::uint64_t value = token_.bits;
  advance();
  return negative ? 0 - value : value;
}

void Parser::skip_past(std::string_view text) {
  while (!at(text)) {
    if (token_.kind == TokenKind::end) fail("unexpected end");
    advance();
  }
  advance();
}

// Debug sections: `.section .debug_x { ... }`.
void Parser::skip_section() {
  skip_past("{");
  skip_past("}");
}

void Parser::run() {
  while (token_.kind != TokenKind::end) {
    const std::string_view directive = word();
    bool external = false;
    std::string_view kind = directive;
    while (kind == ".visible" || kind == ".extern" || kind == ".weak" || kind == ".common") {
      external = external || kind == ".extern";
      kind = word();
    }
    if (kind == ".version") {
      advance();
    } else if (kind == ".target") {
      module_.target = word();
      while (accept(",")) advance();
    } else if (kind == ".address_size") {
      if (integer() != 64) fail("only 64-bit addresses are supported");
    } else if (kind == ".file") {
      integer();
      advance();
      while (accept(",")) advance();
    } else if (kind == ".section") {
      skip_section();
    } else if (kind == ".entry" || kind == ".func") {
      function(kind);
    } else if (kind == ".alias" || kind == ".pragma") {
      skip_past(";");
    } else if (const auto space = space_of(kind)) {
      Variable found = variable(*space);
      found.external = external;
      expect(";");
      module_.variables.push_back(std::move(found));
    } else {
      fail(fmt::format("unknown directive {}", kind));
    }
  }
}

// After the state space: alignment, type, name, dimensions, initializer.
Variable Parser::variable(Space space) {
  Variable result;
  result.space = space;
  std::uint64_t bytes = 0;
  std::uint64_t lanes = 1;
  while (token_.kind == TokenKind::word && token_.text.front() == '.') {
    const std::string_view part = word();
    if (part == ".align") {
      result.align = static_cast<std::uint32_t>(integer());
    } else if (part == ".attribute") {
      expect("(");
      result.managed = at(".managed");
      skip_past(")");
    } else if (part == ".ptr" || part == ".noalias" || space_of(part)) {
      continue;
    } else if (part == ".v2" || part == ".v4") {
      lanes = part == ".v2" ? 2 : 4;
    } else {
      bytes = find_type(part.substr(1)).bytes;
      if (bytes == 0) fail("expected a type");
    }
  }
  if (bytes == 0) fail("expected a type");
  bytes *= lanes;
  result.align = std::max(result.align, static_cast<std::uint32_t>(bytes));
  result.name = word();
  std::uint64_t count = 1;
  bool open = false;
  while (accept("[")) {
    if (at("]")) {
      open = true;
    } else if (__builtin_mul_overflow(count, integer(), &count)) {
      fail("too large an array");
    }
    expect("]");
  }
  if (count > largest_variable) fail("too large an array");
  result.size = open ? 0 : bytes * count;
  if (accept("=")) {
    if (result.size > largest_initialized) fail("too large an array");
    initial_value(result, bytes / lanes);
    if (open) result.size = result.init.size();
    result.init.resize(result.size);
  }
  return result;
}

// A value, or nested braces of values. `generic(symbol)` and `symbol+4` are addresses.
void Parser::initial_value(Variable& variable, std::uint64_t bytes) {
  if (accept("{")) {
    if (++depth_ > deepest) fail("braces too deep");
    while (!accept("}")) {
      initial_value(variable, bytes);
      accept(",");
    }
    --depth_;
    return;
  }
  std::uint64_t bits = 0;
  if (token_.kind == TokenKind::word) {
    std::string_view name = word();
    const bool generic = name == "generic" && accept("(");
    if (generic) name = word();
    const std::uint64_t addend = accept("+") ? integer() : 0;
    if (generic) expect(")");
    variable.references.push_back({variable.init.size(), std::string(name), addend});
  } else if (token_.kind == TokenKind::integer || at("-")) {
    bits = integer();
  } else if (token_.kind != TokenKind::real32 && token_.kind != TokenKind::real64) {
    fail("expected a value");
  } else {
    bits = token_.bits;
    advance();
  }
  const std::size_t begin = variable.init.size();
  variable.init.resize(begin + bytes);
  std::memcpy(variable.init.data() + begin, &bits, std::min<std::uint64_t>(bytes, 8));
}

std::array<std::uint32_t, 3> Parser::triple() {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    result[i] = static_cast<std::uint32_t>(integer());
    if (!accept(",")) break;
  }
  return result;
}

bool Parser::directive_of_function(Function& function) {
  if (accept(".maxntid")) {
    function.max_threads = triple();
  } else if (accept(".reqntid")) {
    function.required_threads = triple();
  } else if (accept(".reqnctapercluster")) {
    function.cluster = triple();
  } else if (accept(".minnctapersm")) {
    function.min_blocks = static_cast<std::uint32_t>(integer());
  } else if (accept(".maxnreg")) {
    function.max_registers = static_cast<std::uint32_t>(integer());
  } else if (accept(".maxclusterrank")) {
    integer();
  } else if (accept(".noreturn") || accept(".explicitcluster")) {
    return true;
  } else if (accept(".pragma")) {
    skip_past(";");
  } else {
    return false;
  }
  return true;
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> result;
  while (!accept(")")) {
    expect(".param");
    result.push_back(variable(Space::param));
    accept(",");
  }
  return result;
}

void Parser::function(std::string_view directive) {
  Function result;
  result.entry = directive == ".entry";
  if (accept("(")) result.results = parameters();
  result.name = word();
  if (accept("(")) result.params = parameters();
  while (directive_of_function(result)) {
  }
  if (!accept(";")) body(result);
  Function& slot = module_.functions[result.name];
  if (!slot.defined) slot = std::move(result);
}

}  // namespace emulator::ptx
