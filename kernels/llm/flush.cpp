// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/flush.h"

#include <immintrin.h>
#include <omp.h>

namespace warpmeter {
namespace {

// Assembly, because the intrinsic would need the whole loop to be compiled for this extension.
void flush_optimized(Bytes range, std::size_t part, std::size_t parts) {
  for_each_line(range, part, parts, [](const void* line) {
    asm volatile("clflushopt %0" : "+m"(*static_cast<char*>(const_cast<void*>(line))));
  });
}

void flush_basic(Bytes range, std::size_t part, std::size_t parts) {
  for_each_line(range, part, parts, [](const void* line) { _mm_clflush(line); });
}

}  // namespace

void flush_lines(std::span<const Bytes> ranges) {
  const bool optimized = __builtin_cpu_supports("clflushopt") != 0;
#pragma omp parallel
  {
    const auto part = static_cast<std::size_t>(omp_get_thread_num());
    const auto parts = static_cast<std::size_t>(omp_get_num_threads());
    for (const Bytes& range : ranges)
      optimized ? flush_optimized(range, part, parts) : flush_basic(range, part, parts);
    _mm_mfence();  // CLFLUSHOPT is ordered by fences only
  }
}

}  // namespace warpmeter
