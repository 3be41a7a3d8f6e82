// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/overhead.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/interval.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr std::uint64_t fewest_launches = 20;
constexpr double most_scatter = 0.25;  // of ln(rate) between neighbouring windows

double rate(const Window& window) {
  return static_cast<double>(window.launches) / static_cast<double>(window.to_ns - window.from_ns);
}

double square(double x) { return x * x; }
double inverse_square(std::uint64_t count) { return 1 / square(static_cast<double>(count)); }

OverheadEstimate not_known(std::size_t windows, std::string reason) {
  OverheadEstimate estimate;
  estimate.windows = windows;
  estimate.reason = std::move(reason);
  return estimate;
}

}  // namespace

OverheadEstimate estimate_overhead(std::span<const Window> windows) {
  if (windows.empty()) return not_known(0, "no round of windows was made");
  const auto least = std::ranges::min_element(windows, {}, &Window::launches);
  if (least->launches < fewest_launches)
    return not_known(windows.size(), fmt::format("a window saw {} launches; {} are needed",
                                                 least->launches, fewest_launches));
  std::array<std::vector<double>, 2> ratios;  // by order
  double floor = 0;
  const std::size_t pairs = windows.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const Window &first = windows[2 * i], &second = windows[2 * i + 1];
    const double y = std::log(rate(second) / rate(first));
    ratios[first.armed ? 0 : 1].push_back(first.armed ? y : -y);
    floor += (inverse_square(first.launches) + inverse_square(second.launches)) / 6;
  }
  if (ratios[0].size() < 2 || ratios[1].size() < 2)
    return not_known(windows.size(), "fewer than two pairs of windows in each order");
  double mean = 0, squares = 0, inverse = 0;
  for (const auto& order : ratios) {
    const double n = static_cast<double>(order.size());
    const double own = std::accumulate(order.begin(), order.end(), 0.) / n;
    for (const double y : order) squares += square(y - own);
    mean += own / 2;
    inverse += 1 / n;
  }
  const double degrees = static_cast<double>(pairs) - 2;
  const double variance = std::max(squares / degrees, floor / static_cast<double>(pairs));
  const double half = student_t(default_level, degrees) * std::sqrt(variance * inverse / 4);
  OverheadEstimate estimate;
  estimate.windows = windows.size();
  estimate.value = std::expm1(mean);
  estimate.low = std::expm1(mean - half);
  estimate.high = std::expm1(mean + half);
  if (std::sqrt(variance) > most_scatter) {
    estimate.unstable = true;
    estimate.reason = fmt::format("rates of neighbouring windows scatter by {:.0f} %",
                                  100 * std::expm1(std::sqrt(variance)));
  }
  return estimate;
}

Json to_json(const OverheadEstimate& estimate) {
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  Json json = Json::object();
  json["value"] = number(estimate.value);
  json["low"] = number(estimate.low);
  json["high"] = number(estimate.high);
  json["verdict"] = estimate.ok() ? "ok" : estimate.unstable ? "unstable" : "failed";
  json["reason"] = estimate.reason;
  json["windows"] = estimate.windows;
  return json;
}

std::string describe(const OverheadEstimate& estimate) {
  if (!estimate.value) return "not known: " + estimate.reason;
  return fmt::format("{:.1f} % ({:.1f} to {:.1f} %){}", 100 * *estimate.value, 100 * *estimate.low,
                     100 * *estimate.high,
                     estimate.unstable ? ", unstable: " + estimate.reason : "");
}

}  // namespace warpmeter
