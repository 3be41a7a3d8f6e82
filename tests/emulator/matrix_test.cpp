// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Products against sums in double, with the fragments' layouts written out from the PTX ISA's
// tables.
#include <cmath>
#include <functional>
#include <ostream>
#include <random>

#include "tests/emulator/kernels.h"
#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

struct Case {
  int which;
  int k;
  int bits;  // of an element
  double tolerance;
};

// Small integers are exact in all the types.
U32 encode(int which, int value) {
  const float f = static_cast<float>(value);
  switch (which) {
    case mma_bf16:
      return std::bit_cast<U32>(f) >> 16;
    case mma_tf32:
      return std::bit_cast<U32>(f);
    case mma_s8:
      return static_cast<U32>(value) & 0xff;
    default:
      return std::bit_cast<std::uint16_t>(static_cast<_Float16>(f));
  }
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.which; }

class Products : public testing::TestWithParam<Case> {};

TEST_P(Products, EqualSumsInDouble) {
  const auto [which, k, bits, tolerance] = GetParam();
  std::mt19937 random(static_cast<unsigned>(which) + 1);
  std::vector<std::vector<int>> a(16, std::vector<int>(static_cast<std::size_t>(k))),
      b(static_cast<std::size_t>(k), std::vector<int>(8)), c(16, std::vector<int>(8));
  for (auto* m : {&a, &b, &c})
    for (auto& row : *m)
      for (int& x : row) x = static_cast<int>(random() % 17) - 8;
  Managed<U32> ra(128), rb(64), rc(128), rd(128);
  for (std::size_t i = 0; i < 128; ++i) ra[i] = rc[i] = rd[i] = 0;
  for (std::size_t i = 0; i < 64; ++i) rb[i] = 0;
  const int per = 32 / bits;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane % 4;
    const auto at = static_cast<std::size_t>(lane);
    // Element i of A, as the manual numbers them: the row changes with each register, the column
    // block with every two.
    for (int i = 0; i < 16 * k / 32; ++i) {
      const int row = (i / per) % 2 == 0 ? group : group + 8;
      const int column = thread * per + i % per + (i / (2 * per)) * 4 * per;
      ra[4 * at + static_cast<std::size_t>(i / per)] |=
          encode(which, a[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)])
          << (bits * (i % per) % 32);
    }
    for (int i = 0; i < 8 * k / 32; ++i) {
      const int row = thread * per + i % per + i / per * 4 * per;
      rb[2 * at + static_cast<std::size_t>(i / per)] |=
          encode(which, b[static_cast<std::size_t>(row)][static_cast<std::size_t>(group)])
          << (bits * (i % per) % 32);
    }
    for (int i = 0; i < 4; ++i) {
      const int value = c[static_cast<std::size_t>(group + (i < 2 ? 0 : 8))]
                         [static_cast<std::size_t>(2 * thread + i % 2)];
      if (which == mma_f16_f16)
        rc[4 * at + static_cast<std::size_t>(i / 2)] |= encode(mma_f16, value) << (16 * (i % 2));
      else
        rc[4 * at + static_cast<std::size_t>(i)] =
            which == mma_s8 ? static_cast<U32>(value)
                            : std::bit_cast<U32>(static_cast<float>(value));
    }
  }
  run_mma(which, ra.get(), rb.get(), rc.get(), rd.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const auto row = static_cast<std::size_t>((lane >> 2) + (i < 2 ? 0 : 8)),
                 column = static_cast<std::size_t>(2 * (lane % 4) + i % 2);
      double want = c[row][column];
      for (std::size_t n = 0; n < static_cast<std::size_t>(k); ++n)
        want += static_cast<double>(a[row][n]) * b[n][column];
      const std::size_t at = 4 * static_cast<std::size_t>(lane);
      const double got =
          which == mma_s8
              ? static_cast<double>(static_cast<std::int32_t>(rd[at + static_cast<std::size_t>(i)]))
          : which == mma_f16_f16
              ? static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(
                    rd[at + static_cast<std::size_t>(i / 2)] >> (16 * (i % 2)))))
              : static_cast<double>(std::bit_cast<float>(rd[at + static_cast<std::size_t>(i)]));
      ASSERT_NEAR(got, want, tolerance) << "lane " << lane << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Products,
                         testing::Values(Case{mma_bf16, 16, 16, 0}, Case{mma_f16, 16, 16, 0},
                                         Case{mma_tf32, 8, 32, 0}, Case{mma_s8, 32, 8, 0},
                                         Case{mma_f16_f16, 16, 16, 0}, Case{mma_f16_k8, 8, 16, 0}));

TEST(Matrix, LdmatrixSpreadsRowsOverLanes) {
  std::vector<std::uint16_t> rows(256);
  for (std::size_t i = 0; i < 256; ++i)
    rows[i] = static_cast<std::uint16_t>(1000 * (i / 8) + i % 8);
  Managed<std::uint16_t> in(rows);
  Managed<U32> out(128);
  for (const int mode : {0, 1}) {
    run_ldmatrix(in.get(), out.get(), mode);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (U32 lane = 0; lane < 32; ++lane) {
      for (U32 matrix = 0; matrix < 4; ++matrix) {
        for (U32 half = 0; half < 2; ++half) {
          const U32 r = lane / 4, c = 2 * (lane % 4) + half;
          const U32 want = mode == 0 ? 1000 * (8 * matrix + r) + c : 1000 * (8 * matrix + c) + r;
          ASSERT_EQ(out[4 * lane + matrix] >> (16 * half) & 0xffff, want % 65536)
              << mode << " " << lane;
        }
      }
    }
  }
}

}  // namespace
