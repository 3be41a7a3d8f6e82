// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The oracle: threads run each statement one after the other.
#include <algorithm>
#include <bit>

#include "tests/emulator/fuzz/program.h"

namespace fuzz {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Threads = std::vector<std::size_t>;

U64& at(State& state, Register r) { return state.values[static_cast<std::size_t>(slot_of(r))]; }

U64 cut(U64 value, Class c) {
  return c == 'h' ? value & 0xffff : c == 'r' ? value & 0xffffffff : c == 'd' ? value : value & 1;
}

bool holds(const Statement& s, State& state) {
  return s.guard < 0 || (at(state, {'p', s.guard}) != 0) != s.negated;
}

void run_op(const Statement& s, State& state) {
  if (!holds(s, state)) return;
  Sources in{};
  for (std::size_t i = 0; i < s.sources.size(); ++i) {
    const Operand& o = s.sources[i];
    in[i] = o.immediate ? o.value : at(state, o.reg);
  }
  Results out{};
  s.op->evaluate(in, out, state.carry);
  for (std::size_t i = 0; i < s.results.size(); ++i)
    at(state, s.results[i]) = cut(out[i], s.results[i].size);
}

void run_exchange(const Statement& s, std::vector<State>& states) {
  const Class c = s.results[0].size;
  const int most = c == 'h' ? 2 : c == 'r' ? 3 : 4;
  const int width = 8 << (s.mode / 3 % most);
  const bool sign = s.mode / 12 % 2 != 0;
  std::vector<U64> values;
  for (State& state : states) values.push_back(at(state, s.sources[0].reg));
  for (std::size_t t = 0; t < states.size(); ++t) {
    U64 value = values[(t + static_cast<std::size_t>(s.amount)) % states.size()] << (64 - width);
    value = sign ? static_cast<U64>(static_cast<std::int64_t>(value) >> (64 - width))
                 : value >> (64 - width);
    at(states[t], s.results[0]) = cut(value, c);
  }
}

// As the manual has it.
void run_shuffle(const Statement& s, State* warp) {
  std::array<U64, 32> values;
  for (int l = 0; l < 32; ++l) values[static_cast<std::size_t>(l)] = at(warp[l], s.sources[0].reg);
  const int segment = s.control >> 8 & 31, clamp = s.control & 31;
  for (int lane = 0; lane < 32; ++lane) {
    const int max_lane = (lane & segment) | (clamp & ~segment);
    const int min_lane = lane & segment;
    int j = 0;
    bool valid = false;
    switch (s.mode % 4) {
      case 0:
        j = min_lane | (s.amount & ~segment);
        valid = j <= max_lane;
        break;
      case 1:
        j = lane - s.amount;
        valid = j >= max_lane;
        break;
      case 2:
        j = lane + s.amount;
        valid = j <= max_lane;
        break;
      default:
        j = lane ^ s.amount;
        valid = j <= max_lane;
    }
    if (!valid) j = lane;
    at(warp[lane], s.results[0]) = values[static_cast<std::size_t>(j)];
    at(warp[lane], s.results[1]) = valid;
  }
}

void run_vote(const Statement& s, State* warp) {
  U32 ballot = 0;
  for (int l = 0; l < 32; ++l)
    ballot |= U32{(at(warp[l], s.sources[0].reg) != 0) != s.negated} << l;
  const U64 results[] = {ballot, ballot == ~U32{0}, ballot != 0, ballot == 0 || ballot == ~U32{0}};
  for (int l = 0; l < 32; ++l) at(warp[l], s.results[0]) = results[s.mode % 4];
}

void run_reduce(const Statement& s, State* warp) {
  const auto value = [&](int l) { return static_cast<U32>(at(warp[l], s.sources[0].reg)); };
  const auto sign = [](U32 x) { return static_cast<std::int32_t>(x); };
  U32 r = value(0);
  for (int l = 1; l < 32; ++l) {
    const U32 x = value(l);
    const U32 results[] = {r + x,
                           std::min(r, x),
                           std::max(r, x),
                           r + x,
                           static_cast<U32>(std::min(sign(r), sign(x))),
                           static_cast<U32>(std::max(sign(r), sign(x))),
                           r & x,
                           r | x,
                           r ^ x};
    r = results[s.mode % 9];
  }
  for (int l = 0; l < 32; ++l) at(warp[l], s.results[0]) = r;
}

void run_match(const Statement& s, State* warp) {
  std::array<U64, 32> values;
  for (int l = 0; l < 32; ++l) values[static_cast<std::size_t>(l)] = at(warp[l], s.sources[0].reg);
  const bool all = s.mode / 2 % 2 != 0;
  const bool same = std::count(values.begin(), values.end(), values[0]) == 32;
  for (std::size_t l = 0; l < 32; ++l) {
    U32 mask = 0;
    for (std::size_t k = 0; k < 32; ++k) mask |= U32{values[k] == values[l]} << k;
    at(warp[l], s.results[0]) = all ? (same ? ~U32{0} : 0) : mask;
    if (all) at(warp[l], s.results[1]) = same;
  }
}

template <typename T, typename S>
void run_atomic(const Statement& s, std::vector<State>& states) {
  const auto value = [&](State& state) { return static_cast<T>(at(state, s.sources[0].reg)); };
  const bool sign = s.mode / 12 % 2 != 0;
  const auto less = [sign](T x, T y) {
    return sign ? static_cast<S>(x) < static_cast<S>(y) : x < y;
  };
  T r = value(states[0]);
  for (State& state : states) {
    const T x = value(state);
    const T results[] = {
        static_cast<T>(r + x), less(x, r) ? x : r, less(x, r) ? r : x, r & x, r | x, r ^ x};
    r = results[s.mode / 2 % 6];
  }
  for (State& state : states) at(state, s.results[0]) = r;
}

void run(const std::vector<Statement>& list, std::vector<State>& states, const Threads& active);

void run_nested(const Statement& s, std::vector<State>& states, const Threads& active) {
  const auto value = [&](std::size_t t) {
    return static_cast<U32>(at(states[t], s.sources[0].reg));
  };
  if (s.kind != Kind::loop) {
    std::vector<Threads> chosen(s.bodies.size());
    for (const std::size_t t : active) {
      const std::size_t body = s.kind == Kind::jump  ? value(t) % 3
                               : holds(s, states[t]) ? std::size_t{0}
                                                     : 1;
      chosen[body].push_back(t);
    }
    for (std::size_t body = 0; body < s.bodies.size(); ++body)
      run(s.bodies[body], states, chosen[body]);
    return;
  }
  std::vector<U32> counts(states.size());
  for (const std::size_t t : active) counts[t] = value(t) & 7;
  for (U32 turn = 0; turn < 7; ++turn) {
    Threads left;
    for (const std::size_t t : active)
      if (counts[t] > turn) left.push_back(t);
    run(s.bodies[0], states, left);
  }
}

void run(const std::vector<Statement>& list, std::vector<State>& states, const Threads& active) {
  if (active.empty()) return;
  for (const Statement& s : list) {
    const auto for_warps = [&](auto f) {
      for (std::size_t w = 0; w < states.size(); w += 32) f(s, &states[w]);
    };
    switch (s.kind) {
      case Kind::op:
        for (const std::size_t t : active) run_op(s, states[t]);
        break;
      case Kind::exchange:
        run_exchange(s, states);
        break;
      case Kind::shuffle:
        for_warps(run_shuffle);
        break;
      case Kind::vote:
        for_warps(run_vote);
        break;
      case Kind::reduce:
        for_warps(run_reduce);
        break;
      case Kind::match:
        for_warps(run_match);
        break;
      case Kind::atomic:
        if (s.results[0].size == 'd') {
          run_atomic<U64, std::int64_t>(s, states);
        } else {
          run_atomic<U32, std::int32_t>(s, states);
        }
        break;
      default:
        run_nested(s, states, active);
    }
  }
}

}  // namespace

void interpret(const Program& program, std::vector<State>& states) {
  Threads all;
  for (std::size_t t = 0; t < states.size(); ++t) all.push_back(t);
  run(program.body, states, all);
}

}  // namespace fuzz
