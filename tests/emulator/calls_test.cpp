// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/calls.h"

#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

U32 call(U32 which, U32 a, U64 b) {
  const U32 sum = a + static_cast<U32>(b >> 3);
  if (which == 0) return sum;
  if (which == 1) return sum ^ (a * static_cast<U32>(b + 1));
  if (which == 3) return a * static_cast<U32>(b);
  U32 n = 0;
  for (; a > b; a -= 3) ++n;
  return n;
}

TEST(Calls, ThroughPointersThatDifferByThread) {
  Managed<U32> out(64);
  run_pointers(out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 t = 0; t < 64; ++t) {
    U32 want = call(t % 4, t * 5 + 1, 9);
    if (t % 2 == 0) want += 1000 * call(t % 4, want, 17);
    EXPECT_EQ(out[t], want) << t;
  }
}

U32 fibonacci(U32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
U32 ackermann(U32 m, U32 n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST(Calls, Recursive) {
  Managed<U32> out(64);
  run_recursion(out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 t = 0; t < 64; ++t) {
    EXPECT_EQ(out[t], fibonacci(t % 12) + 1000 * ackermann(t % 3, t % 4)) << t;
  }
}

U32 odd(U32 n);
U32 even(U32 n) { return n == 0 ? 1 : 2 * odd(n - 1) + n; }
U32 odd(U32 n) { return n == 0 ? 0 : 3 * even(n - 1) + (n ^ 5); }

TEST(Calls, MutualUpToALimit) {
  Managed<U32> out(40);
  run_mutual(30, out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (U32 t = 0; t < 40; ++t) EXPECT_EQ(out[t], even(30 + t)) << t;
  run_mutual(100000, out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

TEST(Calls, OfNoFunction) {
  Managed<U32> out(1);
  run_wild_call(out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalInstruction);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
