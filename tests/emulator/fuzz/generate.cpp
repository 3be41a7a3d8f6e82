// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <random>

#include "tests/emulator/fuzz/program.h"

namespace fuzz {
namespace {

// Standard distributions differ between libraries; kernels must not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

constexpr std::uint64_t corners[] = {
    0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
    0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~std::uint64_t{0},
    // f32: 1, -1, 0.5, infinity, -infinity, NaN, largest, subnormals, smallest normal, integers +
    // 0.5
    0x3f800000, 0xbf800000, 0x3f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0x00000001,
    0x807fffff, 0x00800000, 0x40200000, 0x4b000001, 0x4effffff, 0x4f000000, 0x5f000000,
    // f64 likewise
    0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff, 0x800fffffffffffff,
    0x0010000000000000, 0x4004000000000000, 0x41dfffffffc00000, 0x43e0000000000000,
    // f16 and bf16 pairs
    0x3c003c00, 0xbc003800, 0x7c00fc00, 0x7e007bff, 0x00010400, 0x83ff8400, 0x3f803f80, 0x7f80ff80};

std::uint64_t some_value(Random& random) {
  const int kind = random.below(10);
  if (kind < 4) {
    return corners[random.below(static_cast<int>(std::size(corners)))] +
           (random.chance(20) ? 1 : 0);
  }
  if (kind == 4) return random.bits() % 64;
  if (kind == 5) return 0 - random.bits() % 64;
  // Floats of moderate size, so that sums and products are not all infinite.
  if (kind == 6) return (random.bits() & 0x83ffffff87ffffff) | 0x3800000038000000;
  return random.bits();
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Program run() {
    Program program;
    program.threads = 32 * (1 + random_.below(3));
    budget_ = 30 + random_.below(50);
    program.body = block(0);
    return program;
  }

 private:
  Register some_register(Class c) { return {c, random_.below(registers_of(c))}; }

  Statement of(const Op& op) {
    Statement s;
    s.op = &op;
    for (const Class c : op.results) s.results.push_back(some_register(c));
    // Two results must not be one register.
    if (s.results.size() == 2 && s.results[0].index == s.results[1].index)
      s.results[1].index = (s.results[1].index + 1) % registers_of(s.results[1].size);
    for (const Class c : op.sources) s.sources.push_back({some_register(c)});
    if (op.immediates && random_.chance(20)) {
      Operand& chosen =
          s.sources[static_cast<std::size_t>(random_.below(static_cast<int>(s.sources.size())))];
      chosen.immediate = true;
      chosen.value = some_value(random_);
      if (chosen.reg.size == 'h') chosen.value &= 0x7fff;
      if (chosen.reg.size == 'r') chosen.value &= 0xffffffff;
    }
    if (op.guardable && random_.chance(15)) guard(s);
    return s;
  }

  void guard(Statement& s) {
    s.guard = random_.below(registers_of('p'));
    s.negated = random_.chance(50);
  }

  void add_chain(std::vector<Statement>& list) {
    const Table& t = table();
    list.push_back(of(random_.of(t.chain_heads)));
    for (int n = random_.below(3); n > 0; --n) list.push_back(of(random_.of(t.chain_links)));
    list.push_back(of(random_.of(t.chain_ends)));
  }

  Statement nested(Kind kind, int depth) {
    Statement s;
    s.kind = kind;
    s.number = ++labels_;
    const int bodies = kind == Kind::branch ? 2 : kind == Kind::loop ? 1 : 3;
    if (kind == Kind::branch) guard(s);
    s.sources.push_back({some_register('r')});
    for (int i = 0; i < bodies; ++i) s.bodies.push_back(block(depth + 1));
    return s;
  }

  Statement collective(Kind kind) {
    Statement s;
    s.kind = kind;
    s.mode = random_.below(60);
    s.amount = random_.below(kind == Kind::exchange ? 100 : 32);
    static constexpr int segments[] = {0, 0x10, 0x18, 0x1e};
    s.control = segments[random_.below(4)] << 8 | (random_.chance(50) ? 31 : random_.below(32));
    const Class c = kind == Kind::exchange                        ? "hrd"[s.mode % 3]
                    : kind == Kind::match || kind == Kind::atomic ? "rd"[s.mode % 2]
                    : kind == Kind::vote                          ? 'p'
                                                                  : 'r';
    s.sources.push_back({some_register(c)});
    s.results.push_back(kind == Kind::exchange || kind == Kind::atomic ? some_register(c)
                        : kind == Kind::vote && s.mode % 4 > 0         ? some_register('p')
                                                                       : some_register('r'));
    s.results.push_back(some_register('p'));
    s.negated = random_.chance(50);
    return s;
  }

  std::vector<Statement> block(int depth) {
    std::vector<Statement> list;
    for (int n = depth == 0 ? 1000 : 1 + random_.below(8); n > 0 && budget_ > 0; --n, --budget_) {
      const int roll = random_.below(100);
      if (roll < 5) {
        add_chain(list);
      } else if (roll < 17 && depth < 3) {
        static constexpr Kind kinds[] = {Kind::branch, Kind::branch, Kind::loop, Kind::jump};
        list.push_back(nested(kinds[random_.below(4)], depth));
      } else if (roll < 30 && depth == 0) {  // all threads must come here
        static constexpr Kind kinds[] = {Kind::exchange, Kind::exchange, Kind::shuffle, Kind::vote,
                                         Kind::reduce,   Kind::match,    Kind::atomic};
        list.push_back(collective(kinds[random_.below(7)]));
      } else {
        list.push_back(
            of(random_.of(table().ops[static_cast<std::size_t>(random_.below(families))])));
      }
    }
    return list;
  }

  Random random_;
  int budget_ = 0;
  int labels_ = 0;
};

}  // namespace

int slot_of(Register r) {
  return r.index + (r.size == 'h' ? 0 : r.size == 'r' ? 8 : r.size == 'd' ? 20 : 28);
}

Program generate(std::uint64_t seed) { return Generator(seed).run(); }

std::vector<State> initial_states(const Program& program, std::uint64_t seed) {
  Random random(~seed);
  std::vector<State> states(static_cast<std::size_t>(program.threads));
  for (State& state : states) {
    for (int s = 0; s < slots; ++s) {
      const std::uint64_t value = some_value(random);
      state.values[static_cast<std::size_t>(s)] = s < 8    ? value & 0xffff
                                                  : s < 20 ? value & 0xffffffff
                                                  : s < 28 ? value
                                                           : value & 1;
    }
  }
  return states;
}

}  // namespace fuzz
