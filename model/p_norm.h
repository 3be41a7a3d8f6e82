// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace warpmeter {

// (sum of t^p)^(1/p) of the times of resources that work at the same time: p = 1 is no overlap (the
// sum), p -> infinity perfect overlap (the maximum). Takes 1/p in (0, 1], in which both ends are
// finite; T is double or an automatically differentiated number. Divided by the maximum first, so
// that no power overflows. Times in s, not negative; zero for none.
template <class T>
T p_norm(std::span<const double> times, const T& inverse_exponent) {
  using std::pow;
  const double largest = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  if (largest <= 0) return T(0.0);
  T sum(0.0);
  for (const double time : times) {
    if (time > 0) sum += pow(T(time / largest), T(1.0) / inverse_exponent);
  }
  return T(largest) * pow(sum, inverse_exponent);
}

}  // namespace warpmeter
