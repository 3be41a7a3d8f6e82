// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrator/parameters.h"
#include "calibrator/saturation.h"
#include "calibrator/transfer.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// a and B of a p-norm fit for each campaign alone, refitted from the pooled form.
struct FormReplicates {
  std::vector<double> a, b, product;
};

FormReplicates refit(const Points& points, const std::vector<double>& sizes, const PNorm& pooled,
                     const PNormSettings& limits,
                     const std::function<double(double size, double value)>& time_of) {
  FormReplicates replicates;
  PNormSettings settings = limits;
  settings.start = pooled;
  replicate(points, [&](const std::vector<double>& y) -> std::optional<double> {
    std::vector<double> times;
    for (std::size_t i = 0; i < y.size(); ++i) times.push_back(time_of(sizes[i], y[i]));
    const auto fit = fit_p_norm(sizes, times, settings);
    if (!fit) return std::nullopt;
    replicates.a.push_back(fit->form.a);
    replicates.b.push_back(fit->form.b);
    replicates.product.push_back(fit->form.a * fit->form.b);
    return fit->form.a;
  });
  return replicates;
}

// Where there is one estimate only, its interval comes from the fit's covariance.
void use_covariance(Parameter& parameter, const PNormFit& fit, int index, std::size_t points) {
  if (parameter.interval) return;
  parameter.interval = covariance_interval(fit, index, points);
  if (parameter.interval) parameter.method += "; interval from the covariance of the fit";
}

Series longest(const Points& points, const std::string& x) {
  auto series = series_along(points, x);
  if (series.empty()) return {};
  return *std::max_element(series.begin(), series.end(), [](const Series& a, const Series& b) {
    return a.points.size() < b.points.size();
  });
}

// d log t / d log n between neighbours at an end of the curve: the median of the first or last
// three pairs.
double end_slope(const std::vector<double>& n, const std::vector<double>& t, bool at_begin) {
  std::vector<double> slopes;
  const std::size_t pairs = std::min<std::size_t>(3, n.size() - 1);
  for (std::size_t k = 0; k < pairs; ++k) {
    const std::size_t i = at_begin ? k : n.size() - 2 - k;
    slopes.push_back(std::log(t[i + 1] / t[i]) / std::log(n[i + 1] / n[i]));
  }
  return *median(slopes);
}

std::string leave_one_out_text(const TransferFits& fits) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<LeaveOneOut>& error) {
    if (error) {
      text += fmt::format("{} {} {:.1f} % (worst {:.0f} %)", text.empty() ? "" : ",", name,
                          100 * error->mape, 100 * error->worst);
    }
  };
  add("alpha-beta", fits.alpha_beta_error);
  add("p-norm", fits.p_norm_error);
  add("piecewise linear", fits.piecewise_error);
  return text;
}

std::string other_series(const Points& points, const std::string& x, const Series& chosen) {
  const std::size_t all = series_along(points, x).size();
  if (all < 2) return "";
  return fmt::format("of {} curves this is {}", all, to_string(chosen.fixed));
}

void calibrate_direction(const Selection& selection, const std::string& direction, Draft& draft) {
  Parameter& bandwidth = draft.machine.parameters["transfer." + direction + ".bandwidth"];
  Parameter& latency = draft.machine.parameters["transfer." + direction + ".latency"];
  const std::string what = "transfer.time with direction=" + direction;
  const Points of_direction = with(selection.usable, "direction", direction);
  const Series chosen = longest(with_or_without(of_direction, "engine", "ce"), "size");
  if (chosen.points.empty()) {
    const std::string reason = missing_reason({{}, selection.refused}, what);
    bandwidth = unknown(Unit::byte_per_second, Status::not_measured, reason);
    latency = unknown(Unit::second, Status::not_measured, reason);
    return;
  }
  const std::vector<double> sizes = numbers(chosen.points, "size");
  const std::vector<double> times = values(chosen.points);
  const TransferFits fits = sizes.size() < 5 ? TransferFits{} : fit_transfer(sizes, times);
  if (!fits.p_norm) {
    const std::string reason = fmt::format("{} sizes; at least 5 are needed", sizes.size());
    bandwidth = unknown(Unit::byte_per_second, Status::not_identifiable, reason);
    latency = unknown(Unit::second, Status::not_identifiable, reason);
    return;
  }
  const FormReplicates replicates =
      refit(chosen.points, sizes, fits.p_norm->form, {}, [](double, double t) { return t; });
  const std::string method = fmt::format(
      "t = (a^p + (n/B)^p)^(1/p), p = {:.2f}, fitted in log t; errors on sizes left "
      "out:{}",
      fits.p_norm->form.p, leave_one_out_text(fits));
  const std::string note = other_series(of_direction, "size", chosen);
  const auto fill = [&](Parameter& parameter, Unit unit, const std::vector<double>& estimates,
                        int index, bool visible, const std::string& why_not) {
    if (!visible) {
      parameter = unknown(unit, Status::not_identifiable, why_not);
      return;
    }
    parameter = from_replicates(draft, unit, estimates, method, chosen.points, note);
    use_covariance(parameter, *fits.p_norm, index, sizes.size());
    parameter.valid_range["size"] = {sizes.front(), sizes.back()};
    draft.shared["transfer." + direction + (index == 0 ? ".latency" : ".bandwidth")] = {
        "transfer.time/" + to_string(chosen.fixed), estimates};
  };
  fill(latency, Unit::second, replicates.a, 0, end_slope(sizes, times, true) < 0.5,
       "time grows with size from the smallest size on: the fixed cost is not visible");
  fill(bandwidth, Unit::byte_per_second, replicates.b, 1, end_slope(sizes, times, false) > 0.5,
       "time hardly grows up to the largest size: the bandwidth is not visible");
}

}  // namespace

void calibrate_saturation(const Run& run, Draft& draft) {
  const Selection selection = select(run, "bandwidth.in_flight");
  Parameter& bandwidth = draft.machine.parameters["bandwidth.dram.saturated.core"];
  Parameter& latency = draft.machine.parameters["latency.dram.in_flight"];
  Parameter& concurrency = draft.machine.parameters["concurrency.dram.core"];
  const Points points = longest(selection.usable, "in_flight").points;
  if (points.empty()) {
    const std::string reason = missing_reason(selection, "bandwidth.in_flight");
    bandwidth = unknown(Unit::byte_per_second, Status::not_measured, reason);
    latency = unknown(Unit::second, Status::not_measured, reason);
    concurrency = unknown(Unit::byte, Status::not_measured, reason);
    return;
  }
  const std::vector<double> n = numbers(points, "in_flight");
  const Saturation pooled = fit_saturation(n, values(points));
  const std::string refused = left_out(selection);
  const auto store = [&](const std::string& name, Unit unit, const std::vector<double>& estimates,
                         const std::string& method, const std::string& reason) {
    Parameter& parameter = draft.machine.parameters[name];
    parameter = from_replicates(draft, unit, estimates, method, points, reason);
    if (!parameter.value) return;
    parameter.valid_range["in_flight"] = {n.front(), n.back()};
    draft.shared[name] = {"bandwidth.in_flight", estimates};
  };
  if (pooled.fit) {
    const std::string method =
        fmt::format("Little's law, X = n / (Lat^p + (n/B)^p)^(1/p), p = {:.1f}, fitted in log X",
                    pooled.fit->form.p);
    const FormReplicates replicates = refit(points, n, pooled.fit->form, {.p_min = 1},
                                            [](double size, double x) { return size / x; });
    store("bandwidth.dram.saturated.core", Unit::byte_per_second, replicates.b, method, refused);
    store("latency.dram.in_flight", Unit::second, replicates.a, method, refused);
    store("concurrency.dram.core", Unit::byte, replicates.product,
          method + "; product of bandwidth and latency", refused);
    use_covariance(bandwidth, *pooled.fit, 1, n.size());
    use_covariance(latency, *pooled.fit, 0, n.size());
    if (concurrency.value && draft.status == Status::measured) concurrency.status = Status::derived;
    return;
  }
  // One side of the curve only: what it shows, directly.
  const auto one_side = [&](bool latency_side) {
    return replicate(points, [&](const std::vector<double>& x) {
      const Saturation own = fit_saturation(n, x);
      return latency_side ? own.latency : own.bandwidth;
    });
  };
  store("bandwidth.dram.saturated.core", Unit::byte_per_second,
        pooled.bandwidth ? one_side(false) : std::vector<double>{},
        "median of the bandwidths at the most bytes in flight", pooled.bandwidth_reason);
  store("latency.dram.in_flight", Unit::second,
        pooled.latency ? one_side(true) : std::vector<double>{},
        "bytes in flight over bandwidth at the fewest bytes in flight", pooled.latency_reason);
  concurrency =
      unknown(Unit::byte, Status::not_identifiable,
              !pooled.bandwidth_reason.empty() ? pooled.bandwidth_reason : pooled.latency_reason);
}

void calibrate_transfer(const Run& run, Draft& draft) {
  const Selection selection = select(run, "transfer.time");
  for (const char* direction : {"h2d", "d2h", "p2p"}) {
    calibrate_direction(selection, direction, draft);
  }
}

}  // namespace warpmeter
