// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/fuzz/ops.h"

// Random kernels: as a tree, as PTX, and run by the oracle.
namespace fuzz {

struct Register {
  Class size = 'r';
  int index = 0;
};
struct Operand {
  Register reg;
  bool immediate = false;
  std::uint64_t value = 0;
};

enum class Kind : std::uint8_t {
  op,
  branch,    // bodies: if guard, else
  loop,      // `value` times per thread, from 0 to 7
  jump,      // bodies[value % bodies]
  exchange,  // through shared memory: the value of another thread, as a smaller type
  shuffle,
  vote,
  reduce,
  match,
  atomic,
};

struct Statement {
  Kind kind = Kind::op;
  const Op* op = nullptr;
  std::vector<Register> results;
  std::vector<Operand> sources;
  int guard = -1;  // predicate
  bool negated = false;
  std::vector<std::vector<Statement>> bodies;
  int number = 0;   // of its labels
  int mode = 0;     // which exchange, shuffle, ...
  int amount = 0;   // exchange: distance; shuffle: the operand
  int control = 0;  // shuffle: the clamp and the segment mask
};

struct Program {
  int threads = 64;
  std::vector<Statement> body;
};

// Registers of each class that programs see, and the state of one thread.
inline constexpr int registers_of(Class c) {
  return c == 'h' ? 8 : c == 'r' ? 12 : c == 'd' ? 8 : 6;
}
inline constexpr int slots = 8 + 12 + 8 + 6;
struct State {
  std::array<std::uint64_t, slots> values{};
  bool carry = false;
};
int slot_of(Register r);

Program generate(std::uint64_t seed);
std::vector<State> initial_states(const Program& program, std::uint64_t seed);

// The kernel `fuzz(in, out)` loads all registers of each thread, 8 B each, runs, and stores them:
// slot s of thread t at (s * threads + t) * 8.
std::string to_ptx(const Program& program);

void interpret(const Program& program, std::vector<State>& states);

}  // namespace fuzz
