// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/bracket.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "cuda/check.h"
#include "cuda/instruments.h"

namespace warpmeter {
namespace {

constexpr std::size_t flag_stride = 32;  // words: 128 B apart, so that polling one is not disturbed

// Opens the gate on every way out, so that a failing launch leaves no kernel spinning.
class Opener {
 public:
  explicit Opener(std::uint32_t* released) : released_(*released) {}
  ~Opener() { open(); }
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;
  void open() { released_.store(1, std::memory_order_release); }

 private:
  std::atomic_ref<std::uint32_t> released_;
};

}  // namespace

Bracket::Bracket(double timeout_s)
    : begin_(make_event()),
      end_(make_event()),
      flags_(2 * flag_stride * sizeof(std::uint32_t)),
      timeout_s_(timeout_s) {
  preload_instruments();
}

double Bracket::time(cudaStream_t stream, const std::function<void(cudaStream_t)>& enqueue) {
  std::uint32_t* released = flags_.host<std::uint32_t>();
  std::uint32_t* timed_out = released + flag_stride;
  // The last gate may still be reading its flag if its caller left by an exception.
  GPU_CHECK(cudaStreamSynchronize(stream));
  *released = 0;
  *timed_out = 0;
  {
    Opener opener(released);
    launch_gate({flags_.device<std::uint32_t>(), flags_.device<std::uint32_t>() + flag_stride,
                 static_cast<std::uint64_t>(timeout_s_ * 1e9)},
                stream);
    GPU_CHECK(cudaEventRecord(begin_.get(), stream));
    enqueue(stream);
    GPU_CHECK(cudaEventRecord(end_.get(), stream));
  }
  GPU_CHECK(cudaEventSynchronize(end_.get()));
  if (std::atomic_ref<std::uint32_t>(*timed_out).load() != 0) {
    throw std::runtime_error(
        "the timing gate gave up: the queued work synchronised, allocated, loaded a kernel or "
        "filled the launch queue");
  }
  float elapsed_ms = 0;
  GPU_CHECK(cudaEventElapsedTime(&elapsed_ms, begin_.get(), end_.get()));
  return static_cast<double>(elapsed_ms) * 1e-3;
}

double Bracket::empty_s(cudaStream_t stream) {
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) smallest = std::min(smallest, time(stream, [](cudaStream_t) {}));
  return smallest;
}

}  // namespace warpmeter
