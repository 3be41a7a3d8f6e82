// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace emulator {

class Warp;
struct Instr;

// What an instruction does with the memory that it addresses. `other` counts as a write for the
// check of initialization, and orders the accesses to shared memory before and after it.
enum class Effect : std::uint8_t { other, none, read, write, update, copy };

// False if WARPMETER_EMULATED_CHECKS is "off". Throws std::runtime_error if it is anything else but
// "on" or unset.
bool checks_enabled();

// One line on stderr with the kernel, the PTX line, block and thread; the same pair of lines of a
// kernel gives one warning in the process.
void warn(const Warp& warp, const Instr& instr, int lane, std::uint32_t other_line,
          const std::string& what);

// A bit per byte of memory: written or not. `bits` must be readable 8 B past the last one.
inline bool any_bit(const std::uint8_t* bits, std::uint64_t at, std::uint32_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bits + at / 8, sizeof word);
  return (word >> (at % 8) & ((std::uint64_t{1} << count) - 1)) != 0;  // count <= 32
}
inline void set_bits(std::uint8_t* bits, std::uint64_t at, std::uint32_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bits + at / 8, sizeof word);
  word |= ((std::uint64_t{1} << count) - 1) << (at % 8);
  std::memcpy(bits + at / 8, &word, sizeof word);
}
void set_many(std::uint8_t* bits, std::uint64_t at, std::uint64_t count);
inline void set_range(std::uint8_t* bits, std::uint64_t at, std::uint64_t count) {
  if (count <= 32) {
    set_bits(bits, at, static_cast<std::uint32_t>(count));
  } else {
    set_many(bits, at, count);
  }
}

// What is known of the bytes of a block's shared memory. Accesses of different warps to the same
// bytes, one of them a write, race unless something that may order them lies between: a barrier, a
// fence, an atomic or volatile access, an operation on an mbarrier. Each of these begins a new
// epoch; accesses of one epoch are compared.
class SharedShadow {
 public:
  SharedShadow(std::uint32_t bytes, std::size_t warps);
  void touch(const Warp& warp, const Instr& instr, int lane, std::uint64_t offset,
             std::uint32_t bytes);
  void order() { ++epoch_; }

 private:
  // Of 4 B; the masks say which of them.
  struct Cell {
    std::uint32_t epoch = 0;
    std::uint32_t write_line = 0;
    std::uint32_t read_line = 0;
    std::uint16_t writer = 0;
    std::uint16_t reader = 0;
    std::uint8_t written = 0;
    std::uint8_t read = 0;
    bool many_readers = false;
  };
  void touch_cell(Cell& cell, const Warp& warp, const Instr& instr, int lane, std::uint8_t mask,
                  bool writes);

  std::vector<std::uint8_t> initialized_;
  std::vector<Cell> cells_;  // empty if there is one warp
  std::uint32_t epoch_ = 1;
};

}  // namespace emulator
