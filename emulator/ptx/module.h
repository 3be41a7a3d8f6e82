// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator::ptx {

enum class Space : std::uint8_t { generic, global, constant, shared, local, param };

// A type by what matters to storage and arithmetic.
enum class Kind : std::uint8_t { none, pred, bits, unsigned_int, signed_int, real };
struct Type {
  Kind kind = Kind::none;
  std::uint8_t bytes = 0;
  std::string_view name;  // as written: "bf16x2"
  bool operator==(const Type&) const = default;
};
// Kind::none for a word that is no type. Without the dot: "u32".
Type find_type(std::string_view word);

enum class OperandKind : std::uint8_t {
  none,
  reg,
  special,   // %tid.x
  integer,   // bits
  real32,    // bits
  real64,    // bits
  variable,  // of the function: index; of the module: name
  address,   // parts[0] + bits; parts[1], if any, are coordinates
  vector,    // parts
  pair,      // parts[0] | parts[1]
  list,      // ( parts )
};

struct Operand {
  OperandKind kind = OperandKind::none;
  bool negated = false;
  int index = -1;  // register or variable of the function; -1: none
  std::uint64_t bits = 0;
  std::string_view name;  // variable, special register, label or function
  std::vector<Operand> parts;
};

struct Register {
  std::string name;
  Type type;
};

// An initializer word that holds the address of a symbol.
struct Reference {
  std::uint64_t offset = 0;
  std::string symbol;
  std::uint64_t addend = 0;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint32_t align = 1;
  std::uint64_t size = 0;  // B; 0: `.extern .shared x[]`
  bool external = false;
  bool managed = false;
  std::vector<std::uint8_t> init;
  std::vector<Reference> references;
};

struct Instruction {
  std::vector<std::string_view> parts;  // the opcode split at its dots
  std::string_view opcode;              // as written
  std::vector<Operand> operands;
  int guard = -1;  // register, -1: none
  bool guard_negated = false;
  std::uint32_t line = 0;
  int scope = 0;  // for labels
  bool has(std::string_view part) const;
  std::string_view base() const { return parts.front(); }
  Type type(int from_last = 0) const;  // the n-th type from the right, Kind::none if there is none
};

struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;
  std::vector<Variable> params;   // also in `variables`, first
  std::vector<Variable> results;  // also in `variables`, after the params
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> code;
  std::vector<int> scope_parents;  // of each scope; -1 for the outermost
  std::map<std::pair<int, std::string_view>, std::uint32_t>
      labels;  // scope and name to instruction
  std::map<std::string_view, std::vector<std::string_view>> branch_targets;
  std::array<std::uint32_t, 3> max_threads{0, 0, 0};  // 0: not given
  std::array<std::uint32_t, 3> required_threads{0, 0, 0};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};
  std::uint32_t max_registers = 0;  // 0: not given
  std::uint32_t min_blocks = 1;     // on an SM

  // The instruction behind a label seen from `scope`; throws if there is none.
  std::uint32_t label(int scope, std::string_view name) const;
};

struct Module {
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  std::string text;               // owns what the views point to,
  std::deque<std::string> names;  // as do these numbered names
  std::string target;
  std::vector<Variable> variables;
  std::map<std::string, Function, std::less<>> functions;

  // What a pointer to a function holds; nothing for a kernel or an unknown name.
  std::optional<std::uint64_t> function_address(std::string_view name) const;
};

// Throws std::runtime_error that names the line.
Module parse(std::string text);

}  // namespace emulator::ptx
