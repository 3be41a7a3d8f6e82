// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "kernels/host/add_chain.h"

namespace warpmeter {

namespace {

ClockFacts measure_clock() {
  constexpr int readings = 1000;
  ClockFacts facts;
  facts.step_s = 1;
  const double begin = now_s();
  double before = begin;
  for (int i = 0; i < readings; ++i) {
    const double after = now_s();
    if (after > before) facts.step_s = std::min(facts.step_s, after - before);
    before = after;
  }
  facts.overhead_s = (before - begin) / readings;
  return facts;
}

}  // namespace

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const ClockFacts& clock_facts() {
  static const ClockFacts facts = measure_clock();
  return facts;
}

double shortest_sample_s() {
  return std::max(1e-3, 1000 * std::max(clock_facts().overhead_s, clock_facts().step_s));
}

std::size_t calibrate(const std::function<double(std::size_t)>& elapsed_s) {
  const double wanted_s = 1.2 * shortest_sample_s();
  std::size_t repetitions = 1;
  while (true) {
    // An interruption makes a run look long, so the fastest of three must be long enough.
    double took_s = elapsed_s(repetitions);
    for (int i = 0; i < 2 && took_s >= wanted_s; ++i)
      took_s = std::min(took_s, elapsed_s(repetitions));
    if (took_s >= wanted_s) return repetitions;
    // At most tenfold, because the first runs may be slow for reasons of their own.
    const double factor = std::min(10.0, 1.1 * wanted_s / std::max(took_s, 1e-9));
    repetitions = static_cast<std::size_t>(
        std::ceil(static_cast<double>(repetitions) * std::max(factor, 1.1)));
  }
}

double core_clock_hz(double duration_s) {
  // Sized for 4 GHz; on a slower core it just takes longer.
  const auto rounds = static_cast<std::size_t>(duration_s * 4e9 / additions_per_round) + 1;
  double best_s = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = now_s();
    const std::uint64_t sum = add_chain(3, rounds);
    best_s = std::min(best_s, now_s() - begin);
    if (sum != 3 * additions_per_round * rounds)
      throw std::runtime_error("corrupt: sum of a chain");
  }
  best_s -= clock_facts().overhead_s;
  return static_cast<double>(rounds * additions_per_round) / best_s;
}

}  // namespace warpmeter
