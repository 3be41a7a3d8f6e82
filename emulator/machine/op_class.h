// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

// What the clock model tells apart. Each class has a latency and an issue interval in the chip
// file.
enum class OpClass : std::uint8_t {
  move,
  alu,
  imad,
  fp32,
  fp16,
  fp64,
  special_function,
  convert,
  branch,
  vote,
  shuffle,
  barrier,
  fence,
  param,
  clock,
  sleep,
  load,
  store,
  atomic,
  async_copy,
  matrix_load,
  mma_f16,
  mma_tf32,
  mma_int8,
  mma_fp8,
  mma_f64,
  wgmma_f16,
  wgmma_tf32,
  wgmma_int8,
  wgmma_fp8,
  count
};
inline constexpr std::size_t op_classes = static_cast<std::size_t>(OpClass::count);

// Units that instructions of one scheduler queue for.
enum class Pipe : std::uint8_t { alu, fma, fp64, special, lsu, tensor, control, count };
inline constexpr std::size_t pipes = static_cast<std::size_t>(Pipe::count);

Pipe pipe_of(OpClass op_class);
const char* name_of(OpClass op_class);

}  // namespace emulator
