// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/fma_case.h"

#include <cmath>
#include <cstring>
#include <random>

#include "cuda/check.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

// x -> scale * x + offset tends to offset / (1 - scale) = 1.25, so that no run overflows or becomes
// denormal, and low bits keep changing for as long as rounding lets them.
constexpr float scale = 0.99987793f;
constexpr float offset = 1.52587891e-4f;
constexpr std::uint32_t verified_trips = 4;

float chain(float x, int steps) {
  for (int i = 0; i < steps; ++i) x = std::fma(x, scale, offset);
  return x;
}

float throughput_reference(float start, int trips) {
  float sum = 0;
  for (int j = 0; j < fma_chains; ++j) {
    sum += chain(start + static_cast<float>(j), trips * fma_unroll);
  }
  return sum;
}

int blocks_of(FmaRunner::Kernel kernel, const Load& load, int sm_count) {
  return kernel == FmaRunner::Kernel::chain || load.scope == "sm" ? 1 : sm_count;
}

}  // namespace

FmaRunner::FmaRunner(const Device& device, Kernel kernel, const Load& load)
    : session_(device),
      kernel_(kernel),
      load_(load),
      phase_(load, session_.pace()),
      blocks_(blocks_of(kernel, load, session_.sm_count())) {
  const DeviceGuard guard(device.ordinal);
  const int threads = kernel == Kernel::chain ? 32 : fma_threads;
  std::mt19937 random(1);
  for (int i = 0; i < threads; ++i) {
    start_.push_back(std::uniform_real_distribution<float>(0.5f, 1.5f)(random));
  }
  start_on_device_ = session_.upload(start_);
  result_ = DeviceBuffer(sizeof(float) * threads * blocks_);
  verify();
  trips_ = scale_count(load.floor_s(session_.pace()), verified_trips, [&](std::uint32_t trips) {
    return session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips, stamps); })
        .event_s;
  });
}

void FmaRunner::launch(cudaStream_t stream, std::uint32_t trips, Stamp* stamps) const {
  const FmaArgs args{start_on_device_.as<float>(), scale, offset, trips,
                     result_.as<float>(),          stamps};
  if (kernel_ == Kernel::chain) {
    launch_fma_chain(args, stream);
  } else {
    launch_fma_throughput(args, blocks_, stream);
  }
}

void FmaRunner::verify() {
  GPU_CHECK(cudaMemsetAsync(result_.as<void>(), 0, result_.bytes(), session_.stream()));
  session_.run(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, verified_trips, stamps); });
  std::vector<float> expected;
  for (const float x : start_) {
    expected.push_back(kernel_ == Kernel::chain ? chain(x, verified_trips * fma_chain_unroll)
                                                : throughput_reference(x, verified_trips));
  }
  const auto got = session_.download<float>(result_, start_.size() * blocks_);
  for (int block = 0; block < blocks_; ++block) {
    require_correct(std::memcmp(got.data() + start_.size() * block, expected.data(),
                                sizeof(float) * start_.size()) == 0,
                    "a multiply-add result differs from the host's fma");
  }
}

Session::Timed FmaRunner::run() {
  const DeviceGuard guard(session_.ordinal());
  phase_.prepare([&] {
    session_.run(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips_, stamps); });
  });
  const auto timed =
      session_.time(blocks_, [&](cudaStream_t s, Stamp* stamps) { launch(s, trips_, stamps); });
  if (!timed.clock) throw std::runtime_error("no block of the multiply-add kernel ran");
  session_.record(*timed.clock);
  return timed;
}

}  // namespace warpmeter
