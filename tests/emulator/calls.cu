// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/calls.h"

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Operation = U32 (*)(U32, U64);

__device__ __noinline__ U32 add(U32 a, U64 b) { return a + static_cast<U32>(b >> 3); }
__device__ __noinline__ U32 multiply(U32 a, U64 b) { return a * static_cast<U32>(b); }
__device__ __noinline__ U32 mix(U32 a, U64 b) { return add(a, b) ^ multiply(a, b + 1); }
__device__ __noinline__ U32 count(U32 a, U64 b) {
  U32 n = 0;
  while (a > b) {
    a -= 3;
    ++n;
  }
  return n;
}
__device__ Operation table[3] = {add, mix, count};

__global__ void pointers(U32* out) {
  const U32 t = threadIdx.x;
  const Operation f = t % 4 == 3 ? multiply : table[t % 4];
  U32 r = f(t * 5 + 1, 9);
  if (t % 2 == 0) r += 1000 * f(r, 17);
  out[t] = r;
}

__device__ __noinline__ U32 fibonacci(U32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ U32 ackermann(U32 m, U32 n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recursion(U32* out) {
  const U32 t = threadIdx.x;
  out[t] = fibonacci(t % 12) + 1000 * ackermann(t % 3, t % 4);
}

__device__ __noinline__ U32 odd(U32 n);
__device__ __noinline__ U32 even(U32 n) { return n == 0 ? 1 : 2 * odd(n - 1) + n; }
__device__ __noinline__ U32 odd(U32 n) { return n == 0 ? 0 : 3 * even(n - 1) + (n ^ 5); }
__global__ void mutual(U32 depth, U32* out) { out[threadIdx.x] = even(depth + threadIdx.x); }

__global__ void wild(U32* out) {
  const auto f = reinterpret_cast<Operation>(out);
  out[0] = f(1, 2);
}

}  // namespace

void run_pointers(U32* out) { pointers<<<1, 64>>>(out); }
void run_recursion(U32* out) { recursion<<<1, 64>>>(out); }
void run_mutual(U32 depth, U32* out) { mutual<<<1, 40>>>(depth, out); }
void run_wild_call(U32* out) { wild<<<1, 1>>>(out); }
