// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/host/fma.h"

namespace warpmeter {

// "f64", "f32", "bf16" or "int8". Throws InputError on any other text.
FmaType parse_fma_type(std::string_view text);

// One thread's multiply-add work on random data.
class FmaWork {
 public:
  virtual ~FmaWork() = default;
  // Compares one block with scalar code in double precision (int8: integers); throws
  // std::runtime_error ("corrupt: ...") on a difference beyond rounding.
  virtual void verify() = 0;
  virtual void run(std::size_t blocks) = 0;
  virtual double ops_per_block() const = 0;
};

// Throws UnsupportedError if this CPU lacks the instruction.
std::unique_ptr<FmaWork> make_fma_work(FmaType type, std::uint64_t seed);

}  // namespace warpmeter
