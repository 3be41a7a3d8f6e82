// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/host/add_chain.h"

namespace warpmeter {

std::uint64_t add_chain(std::uint64_t step, std::size_t rounds) {
  std::uint64_t sum = 0;
  for (; rounds != 0; --rounds)
    asm volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc");
  return sum;
}

}  // namespace warpmeter
