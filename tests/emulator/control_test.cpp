// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <numeric>

#include "tests/emulator/kernels.h"
#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

std::vector<U32> run(int which, int blocks, int threads) {
  Managed<U32> out(4096);
  for (U32 i = 0; i < 4096; ++i) out[i] = i * 7919;
  run_control(which, out.get(), blocks, threads);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return {out.get(), out.get() + blocks * threads};
}

TEST(Control, NestedBranchesReconverge) {
  const auto out = run(control_nested, 1, 96);
  const U32 weights[] = {1, 10, 100, 1000};
  for (U32 t = 0; t < 96; ++t) {
    U32 want = t & 1        ? (t & 2 ? 1 : 2) + (t & 4 ? 10 : 0)
               : t % 3 == 0 ? 100
               : t % 3 == 1 ? 200
                            : 300;
    ASSERT_EQ(out[t], want + weights[t & 3] * 1000) << t;
  }
}

TEST(Control, LoopsOfDifferentLength) {
  const auto out = run(control_trips, 1, 64);
  for (U32 t = 0; t < 64; ++t) {
    U32 want = 0;
    for (U32 i = 0; i < t * 7; ++i) {
      if (i % 5 == 4) continue;
      if (want > 1500) break;
      want += i;
    }
    ASSERT_EQ(out[t], want) << t;
  }
}

TEST(Control, LanesOfAWarpTakeTurnsAtALock) {
  for (const U32 value : run(control_lane_lock, 1, 64)) ASSERT_EQ(value, 63u * 64 / 2);
}

TEST(Control, AWarpSpinsUntilAnotherHasWritten) {
  const auto out = run(control_producer, 1, 64);
  for (U32 lane = 0; lane < 32; ++lane) ASSERT_EQ(out[32 + lane], out[31 - lane]);
  ASSERT_NE(out[0], out[1]);
}

TEST(Control, AllBlocksOfAGridMeet) {
  const int blocks = 16;
  for (const U32 value : run(control_grid_barrier, blocks, 64)) ASSERT_EQ(value, 16u * 17 / 2);
}

TEST(Control, Switch) {
  const auto out = run(control_switch, 1, 96);
  for (U32 t = 0; t < 96; ++t) {
    const U32 want[] = {5, t * 3, t ^ 77, 9, t + 4, 1000 - t, t << 3, 42, t / 3, t % 7, 1, 1};
    ASSERT_EQ(out[t], want[t % 12]) << t;
  }
}

TEST(Control, CallsWithStructsInDivergentCode) {
  const auto out = run(control_call, 1, 64);
  for (U32 t = 0; t < 64; ++t) {
    U32 a = t + 1;
    std::uint64_t b = t;
    for (U32 i = 0; i < t % 5; ++i) {
      const U32 x = t + i;
      if (x % 2 == 0)
        a += x, b *= 2;
      else
        a *= x, b += 5;
    }
    // Of the values stored at (i * t) % 8 == 0, the last: i = 7 if t is a multiple of 8, and so on.
    U32 last = 0;
    for (U32 i = 0; i < 8; ++i)
      if (i * t % 8 == 0) last = i;
    ASSERT_EQ(out[t], a + static_cast<U32>(b) + last + a) << t;
  }
}

TEST(Control, ExitedLanesDoNotHoldUpABarrier) {
  const auto out = run(control_exit, 1, 100);
  for (U32 t = 0; t < 100; ++t) ASSERT_EQ(out[t], t % 3 == 1 ? t * 7919 : t + 1);
}

TEST(Control, Shuffles) {
  const auto out = run(control_shuffle, 1, 32);
  for (U32 t = 0; t < 32; ++t) {
    U32 want = (t + 5) % 32 * 2;
    want += 1000 * (t >= 3 ? t - 3 : t);
    want += 100000 * (t % 8 < 6 ? t + 2 : t);
    ASSERT_EQ(out[t], want ^ ((t ^ 9) << 27)) << t;
  }
}

TEST(Control, VotesAndReductions) {
  const auto out = run(control_votes, 1, 32);
  U32 thirds = 0;
  for (U32 t = 0; t < 20; t += 3) thirds |= 1u << t;
  for (U32 t = 0; t < 32; ++t) {
    const U32 want = ((t < 20 ? 0xaaaaaaaa ^ thirds : 0xaaaaaaaa) + 2 + (32 << 8)) + (496u << 16);
    ASSERT_EQ(out[t], want) << t;
  }
}

TEST(Control, Matches) {
  const auto out = run(control_match, 1, 32);
  for (U32 t = 0; t < 32; ++t) {
    U32 same = 0;
    for (U32 k = t % 5; k < 32; k += 5) same |= 1u << k;
    ASSERT_EQ(out[t], same ^ 0xf0f0f0f0) << t;
  }
}

TEST(Control, BarriersReduce) {
  for (const U32 value : run(control_barrier_red, 1, 128)) ASSERT_EQ(value, 43u + 1000 + 2000);
}

TEST(Control, AsyncCopiesArrive) {
  const auto out = run(control_async, 1, 128);
  for (U32 t = 0; t < 128; ++t) ASSERT_EQ(out[t], (1024 + (t * 4 + 7) % 512) * 7919) << t;
}

TEST(Control, Prints) {
  testing::internal::CaptureStdout();
  const auto out = run(control_printf, 1, 3);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text,
            "thread 0 of block: 0.00 1099511627776\nthread 1 of block: 0.25 1099511627776\nthread "
            "2 of block: 0.50 1099511627776\n");
}

TEST(Control, NamedBarriersOfHalfABlock) {
  const auto out = run(control_named, 1, 256);
  for (U32 t = 0; t < 256; ++t) ASSERT_EQ(out[t], 2 * (t / 128 * 128 + (t + 33) % 128)) << t;
}

TEST(Control, Atomics) {
  const auto out = run(control_atomics, 1, 64);
  const U32 inc = 64 % 11;
  const U32 want[] = {63 * 64 / 2, 189, ~0u, 9, inc, 0, std::bit_cast<U32>(32.0f), 0};
  for (U32 t = 0; t < 64; ++t) ASSERT_EQ(out[t], want[t % 8]) << t;
}

TEST(Control, CooperativeLaunchChecksResidency) {
  Managed<U32> out(4096);
  U32* pointer = out.get();
  void* args[] = {&pointer};
  EXPECT_EQ(cudaLaunchCooperativeKernel(control_kernel(control_nested), 8, 32, args, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(
      cudaLaunchCooperativeKernel(control_kernel(control_nested), 4096, 1024, args, 0, nullptr),
      cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
