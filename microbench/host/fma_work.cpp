// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/fma_work.h"

#include <fmt/format.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "core/error.h"
#include "kernels/host/random.h"
#include "microbench/host/references.h"

namespace warpmeter {

namespace {

// Long enough that loading and storing the tile does not show, short enough that factors near -1
// leave full-entropy numbers to multiply.
constexpr std::size_t steps = 512;

void require_match(double got, double wanted, double tolerance) {
  if (!(std::abs(got - wanted) <= tolerance))
    throw std::runtime_error(
        fmt::format("corrupt: a multiply-add chain gives {}, not {}", got, wanted));
}

template <class T>
class TileWork : public FmaWork {
 public:
  TileWork(FmaType type, std::uint64_t seed)
      : shape_(fma_shape(type)),
        tile_(shape_.chains * shape_.lanes),
        start_(hwy::AllocateAligned<T>(tile_)),
        factor_(hwy::AllocateAligned<T>(shape_.factors * shape_.lanes)),
        addend_(hwy::AllocateAligned<T>(shape_.lanes)),
        result_(hwy::AllocateAligned<T>(tile_)) {
    Random random(seed);
    for (std::size_t i = 0; i < tile_; ++i) start_[i] = static_cast<T>(random.real(1, 2));
    for (std::size_t i = 0; i < shape_.factors * shape_.lanes; ++i)
      factor_[i] = static_cast<T>(random.real(-0x1.FFCp-1, -0x1.FF8p-1));
    for (std::size_t i = 0; i < shape_.lanes; ++i) addend_[i] = static_cast<T>(random.real(1, 2));
  }

  void verify() override {
    run(1);
    // Values stay below 4, and each step rounds once or twice.
    const double tolerance = 8.0 * steps * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < tile_; ++i) {
      const std::size_t lane = i % shape_.lanes;
      const std::size_t factor = i / shape_.lanes % shape_.factors * shape_.lanes + lane;
      require_match(result_[i], fma_reference(start_[i], factor_[factor], addend_[lane], steps),
                    tolerance);
    }
  }

  void run(std::size_t blocks) override {
    fma_blocks(start_.get(), factor_.get(), addend_.get(), steps, blocks, result_.get());
  }

  double ops_per_block() const override { return fma_ops_per_step(shape_) * steps; }

 private:
  FmaShape shape_;
  std::size_t tile_;
  hwy::AlignedFreeUniquePtr<T[]> start_, factor_, addend_, result_;
};

// T accumulates products of L and R.
template <class T, class L, class R>
class DotWork : public FmaWork {
 public:
  DotWork(FmaType type, std::uint64_t seed)
      : shape_(dot_shape(type)),
        tile_(shape_.chains * shape_.lanes),
        values_(shape_.lanes * shape_.depth),
        start_(hwy::AllocateAligned<T>(tile_)),
        left_(hwy::AllocateAligned<L>(shape_.factors * values_)),
        right_(hwy::AllocateAligned<R>(shape_.factors * values_)),
        result_(hwy::AllocateAligned<T>(tile_)) {
    Random random(seed);
    for (std::size_t i = 0; i < tile_; ++i) start_[i] = static_cast<T>(random.real(-1000, 1000));
    for (std::size_t i = 0; i < shape_.factors * values_; ++i) {
      left_[i] = random_value<L>(random);
      right_[i] = random_value<R>(random);
    }
  }

  void verify() override {
    run(1);
    for (std::size_t i = 0; i < tile_; ++i) {
      const std::size_t chain = i / shape_.lanes, lane = i % shape_.lanes;
      const L* left = left_.get() + chain % 4 * values_ + lane * shape_.depth;
      const R* right = right_.get() + chain / 4 % 4 * values_ + lane * shape_.depth;
      const double wanted = dot_reference(start_[i], left, right, shape_.depth, steps);
      require_match(result_[i], wanted, tolerance());
    }
  }

  void run(std::size_t blocks) override {
    dot_blocks(start_.get(), left_.get(), right_.get(), steps, blocks, result_.get());
  }

  double ops_per_block() const override { return fma_ops_per_step(shape_) * steps; }

 private:
  // bf16: products below 4, sums below 1000 + 8 steps, two roundings a step. Integers are exact.
  static double tolerance() {
    if constexpr (std::is_integral_v<T>) return 0;
    return 2.0 * steps * (1000 + 8.0 * steps) * std::numeric_limits<float>::epsilon();
  }

  template <class V>
  static V random_value(Random& random) {
    if constexpr (std::is_same_v<V, std::uint16_t>)
      return bf16_bits(random.real(-2, 2));
    else
      return static_cast<V>(random.next());
  }

  FmaShape shape_;
  std::size_t tile_;
  std::size_t values_;  // per factor vector
  hwy::AlignedFreeUniquePtr<T[]> start_;
  hwy::AlignedFreeUniquePtr<L[]> left_;
  hwy::AlignedFreeUniquePtr<R[]> right_;
  hwy::AlignedFreeUniquePtr<T[]> result_;
};

}  // namespace

FmaType parse_fma_type(std::string_view text) {
  if (text == "f64") return FmaType::f64;
  if (text == "f32") return FmaType::f32;
  if (text == "bf16") return FmaType::bf16;
  if (text == "int8") return FmaType::int8;
  throw InputError(fmt::format("type is \"{}\"; it can be f64, f32, bf16 or int8", text));
}

std::unique_ptr<FmaWork> make_fma_work(FmaType type, std::uint64_t seed) {
  if (type == FmaType::f64) return std::make_unique<TileWork<double>>(type, seed);
  if (type == FmaType::f32) return std::make_unique<TileWork<float>>(type, seed);
  if (!has_dot(type)) throw UnsupportedError("this CPU lacks the AVX-512 dot product of this type");
  if (type == FmaType::bf16)
    return std::make_unique<DotWork<float, std::uint16_t, std::uint16_t>>(type, seed);
  return std::make_unique<DotWork<std::int32_t, std::uint8_t, std::int8_t>>(type, seed);
}

}  // namespace warpmeter
