// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <string>

#include "kernels/llm/buffer.h"
#include "kernels/llm/element.h"

namespace warpmeter {

enum class Role { input, output, updated, scratch };

// A tensor that a kernel reads, writes, reads and writes in place (updated), or passes between its
// own steps (scratch). `size` may exceed count elements if a library pads a blocked format.
struct Operand {
  std::string name;
  Role role = Role::input;
  Element type = Element::f32;
  std::int64_t count = 0;  // elements
  Buffer memory;

  Operand(std::string name, Role role, Element type, std::int64_t count, std::size_t size = 0);

  float* f32() const { return reinterpret_cast<float*>(memory.data()); }
  std::uint16_t* bf16() const { return reinterpret_cast<std::uint16_t*>(memory.data()); }
  std::uint16_t* f16() const { return reinterpret_cast<std::uint16_t*>(memory.data()); }
  std::uint8_t* u8() const { return reinterpret_cast<std::uint8_t*>(memory.data()); }
  std::int8_t* i8() const { return reinterpret_cast<std::int8_t*>(memory.data()); }
  std::int32_t* i32() const { return reinterpret_cast<std::int32_t*>(memory.data()); }

  // Element `index`, whatever the type.
  double at(std::int64_t index) const {
    if (type == Element::bf16) return bf16_to_float(bf16()[index]);
    if (type == Element::f16) return f16_to_float(f16()[index]);
    if (type == Element::e4m3) return e4m3_to_float(u8()[index]);
    if (type == Element::int8) return i8()[index];
    if (type == Element::u8) return u8()[index];
    if (type == Element::i32) return i32()[index];
    return f32()[index];
  }
};

// All bits set: NaN in all types of floats, so that an element that is never written fails every
// check.
void poison(const Operand& operand);

// Fills floats or int8 (rounded; choose a deviation) by all threads of the team (first touch). The
// values are approximately normal with mean 0 and standard deviation `deviation`, reproducible from
// the seed.
void fill_normal(const Operand& operand, std::uint32_t seed, double deviation);

// As above with deviation 1 for a [rows, columns] tensor, but one column in 128 is eight times as
// large: transformer activations have few outlier channels (Dettmers et al., LLM.int8(),
// arXiv:2208.07339).
void fill_activations(const Operand& operand, std::int64_t columns, std::uint32_t seed);

// Fills elements [first, first + count) of an operand whose other elements are never read, with the
// values that fill_normal would give them.
void fill_normal_part(const Operand& operand, std::int64_t first, std::int64_t count,
                      std::uint32_t seed, double deviation);

// What the fill functions store at `index`, as a number.
double normal_value(std::int64_t index, std::uint32_t seed, double deviation, Element type);

// A different seed at each call in a process: each campaign gets fresh data.
std::uint32_t next_seed();

}  // namespace warpmeter
