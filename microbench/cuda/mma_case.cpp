// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/mma_case.h"

#include <cmath>
#include <cstring>
#include <random>

#include "cuda/check.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr std::uint32_t verified_trips = 2;
constexpr int warps = mma_threads / 32;
constexpr std::size_t floats_per_product = 16 * 8;

// Magnitudes in [0.5, 2) with random signs and all mantissa bits random: sums of a few products are
// then nearly exact in f32, while the data toggle as real ones do.
float random_bf16(std::mt19937& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t sign = bits & 0x8000u;
  const std::uint32_t exponent = 126 + ((bits >> 7) & 1);
  return from_bf16(static_cast<std::uint16_t>(sign | exponent << 7 | (bits & 0x7f)));
}

bool matches(const MatrixC& got, const MatrixA& a, const MatrixB& b, double times) {
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double sum = 0;
      double magnitude = 0;
      for (int k = 0; k < 16; ++k) {
        const double product = static_cast<double>(a[row * 16 + k]) * b[k * 8 + column];
        sum += product;
        magnitude += std::abs(product);
      }
      // Tensor units align and truncate to about 24 bits; a wrong element is off by 2^-2 or more.
      const double tolerance = times * magnitude * std::ldexp(1, -18);
      if (!(std::abs(got[row * 8 + column] - times * sum) <= tolerance)) return false;
    }
  }
  return true;
}

}  // namespace

MmaRunner::MmaRunner(const Device& device, const Load& load)
    : session_(device),
      load_(load),
      phase_(load, session_.pace()),
      blocks_(load.scope == "sm" ? 1 : session_.sm_count()) {
  const DeviceGuard guard(device.ordinal);
  std::mt19937 random(1);
  for (float& x : a_) x = random_bf16(random);
  std::vector<std::uint32_t> b_words;
  for (int j = 0; j < mma_accumulators; ++j) {
    MatrixB b{};
    for (float& x : b) x = random_bf16(random);
    b_.push_back(b);
    const auto words = fragments_b(b);
    b_words.insert(b_words.end(), words.begin(), words.end());
  }
  a_on_device_ = session_.upload(fragments_a(a_));
  b_on_device_ = session_.upload(b_words);
  result_ = DeviceBuffer(sizeof(float) * floats_per_product * mma_accumulators * warps * blocks_);
  verify();
  trips_ = scale_count(load.floor_s(session_.pace()), 64, [&](std::uint32_t trips) {
    return session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips, stamps); })
        .event_s;
  });
}

void MmaRunner::launch(cudaStream_t stream, std::uint32_t trips, Stamp* stamps) const {
  launch_mma({a_on_device_.as<std::uint32_t>(), b_on_device_.as<std::uint32_t>(), trips,
              result_.as<float4>(), stamps},
             blocks_, stream);
}

void MmaRunner::verify() {
  GPU_CHECK(cudaMemsetAsync(result_.as<void>(), 0xff, result_.bytes(), session_.stream()));  // NaN
  session_.run(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, verified_trips, stamps); });
  const auto got = session_.download<float>(result_, result_.bytes() / sizeof(float));
  const std::size_t per_warp = floats_per_product * mma_accumulators;
  for (int j = 0; j < mma_accumulators; ++j) {
    const MatrixC c = matrix_c(got.data() + floats_per_product * j);
    require_correct(matches(c, a_, b_[j], static_cast<double>(mma_unroll) * verified_trips),
                    "a tensor product differs from the host's");
  }
  for (std::size_t first = per_warp; first < got.size(); first += per_warp) {
    require_correct(std::memcmp(got.data() + first, got.data(), per_warp * sizeof(float)) == 0,
                    "warps with the same operands disagree");
  }
}

double MmaRunner::ops() const {
  return mma_ops * warps * blocks_ * mma_accumulators * mma_unroll * trips_;
}

Session::Timed MmaRunner::run() {
  const DeviceGuard guard(session_.ordinal());
  phase_.prepare([&] {
    session_.run(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips_, stamps); });
  });
  const auto timed =
      session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips_, stamps); });
  if (!timed.clock) throw std::runtime_error("no block of the tensor kernel ran");
  session_.record(*timed.clock);
  return timed;
}

}  // namespace warpmeter
