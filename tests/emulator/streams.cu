// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/streams.h"

namespace {

__global__ void linear(std::uint32_t* x, std::uint32_t factor, std::uint32_t addend) {
  *x = *x * factor + addend;
}
__global__ void wait(const volatile std::uint32_t* flag, std::uint32_t* seen) {
  while (*flag == 0) {
  }
  *seen = *flag;
}
__global__ void signal(std::uint32_t* flag) { *flag = 7; }

}  // namespace

void run_linear(std::uint32_t* x, std::uint32_t factor, std::uint32_t addend, cudaStream_t stream) {
  linear<<<1, 1, 0, stream>>>(x, factor, addend);
}
void run_wait(const volatile std::uint32_t* flag, std::uint32_t* seen) {
  wait<<<1, 1>>>(flag, seen);
}
void run_signal(std::uint32_t* flag) { signal<<<1, 1>>>(flag); }
