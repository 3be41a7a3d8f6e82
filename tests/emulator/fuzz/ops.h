// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What each PTX instruction computes, written from the PTX ISA alone.
namespace fuzz {

// Registers by size: h 16 bits, r 32, d 64, p a predicate.
using Class = char;

// A function that kernels call.
const char* helper_text();

using Sources = std::array<std::uint64_t, 5>;
using Results = std::array<std::uint64_t, 2>;
// `carry` is the condition code.
using Evaluate = std::function<void(const Sources& in, Results& out, bool& carry)>;

struct Op {
  std::string text;  // "add.u32 $0, $1, $2;" destinations first; may be several instructions
  std::string results;
  std::string sources;
  Evaluate evaluate;
  bool guardable = true;    // false: several instructions, which a guard would tear apart
  bool immediates = false;  // integer constants may stand for sources
};

enum class Family : std::uint8_t { integer, bits, compare, real, half, convert };
inline constexpr int families = 6;
struct Table {
  std::array<std::vector<Op>, families> ops;
  std::vector<Op> chain_heads;  // set the carry
  std::vector<Op> chain_links;  // read and set it
  std::vector<Op> chain_ends;   // read it
};
const Table& table();

template <typename T>
inline constexpr Class class_of = std::is_same_v<T, bool> ? 'p'
                                  : sizeof(T) == 2        ? 'h'
                                  : sizeof(T) == 4        ? 'r'
                                                          : 'd';

template <typename R, typename... A>
Op op_of(const std::string& opcode, std::function<R(A...)> f) {
  Op op;
  op.results = class_of<R>;
  (op.sources.push_back(class_of<A>), ...);
  op.text = opcode + " $0";
  for (std::size_t i = 1; i <= sizeof...(A); ++i) op.text += ", $" + std::to_string(i);
  op.text += ";";
  op.evaluate = [f](const Sources& in, Results& out, bool&) {
    const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(static_cast<A>(in[I])...);
    };
    out[0] = static_cast<std::uint64_t>(call(std::index_sequence_for<A...>{}));
  };
  return op;
}

// An op from a function of values: make_op("add.u16", [](U16 a, U16 b) -> U16 { ... }).
template <typename F>
Op make_op(const std::string& opcode, F f) {
  return op_of(opcode, std::function(f));
}
// Likewise, of integers.
template <typename F>
Op with_immediates(const std::string& opcode, F f) {
  Op op = op_of(opcode, std::function(f));
  op.immediates = true;
  return op;
}

void add_integer_ops(Table& table);
void add_carry_ops(Table& table);
void add_bit_ops(Table& table);
void add_memory_ops(Table& table);
void add_compare_ops(Table& table);
void add_real_ops(Table& table);
void add_half_ops(Table& table);
void add_conversions(Table& table);
void add_packed_conversions(Table& table);

}  // namespace fuzz
