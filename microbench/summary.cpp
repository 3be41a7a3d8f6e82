// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr double limit_tolerance = 1.02;
constexpr double clock_drop = 0.05;
constexpr double ramp = 0.03;
constexpr double ramp_p = 0.01;
constexpr double wide = 0.20;

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string reason;
};

Finding no_samples(std::span<const Campaign> campaigns) {
  for (const Campaign& campaign : campaigns) {
    if (campaign.verdict == Verdict::failed) return {Verdict::failed, campaign.reason};
  }
  for (const Campaign& campaign : campaigns) {
    if (campaign.verdict == Verdict::unsupported) return {Verdict::unsupported, campaign.reason};
  }
  return {Verdict::failed, "no campaign was run"};
}

std::optional<Finding> find_failure(std::span<const Campaign> campaigns) {
  for (const Campaign& campaign : campaigns) {
    if (campaign.verdict == Verdict::failed) return Finding{Verdict::failed, campaign.reason};
  }
  return std::nullopt;
}

std::optional<Finding> find_contamination(std::span<const Campaign> campaigns) {
  int disturbed = 0;
  std::string reason;
  for (const Campaign& campaign : campaigns) {
    if (campaign.verdict != Verdict::contaminated) continue;
    ++disturbed;
    reason = campaign.reason;
  }
  if (2 * disturbed < static_cast<int>(campaigns.size()) || disturbed == 0) return std::nullopt;
  return Finding{Verdict::contaminated,
                 fmt::format("{} of {} campaigns: {}", disturbed, campaigns.size(), reason)};
}

// The clock after each campaign. One low reading is an interruption of the reading; half of them
// low is a clock that fell.
std::optional<Finding> find_throttling(std::span<const Campaign> campaigns) {
  std::vector<double> clocks;
  for (const Campaign& campaign : campaigns) {
    const auto clock = campaign.conditions.find("clock_hz");
    if (clock != campaign.conditions.end() && clock->is_number())
      clocks.push_back(clock->get<double>());
  }
  const auto summary = summarize(clocks);
  if (!summary || summary->median >= (1 - clock_drop) * summary->max) return std::nullopt;
  return Finding{
      Verdict::throttled,
      fmt::format("the clock was {} in half of the campaigns and {} in the best",
                  format_si(summary->median, Unit::hertz), format_si(summary->max, Unit::hertz))};
}

// A trend that all campaigns show, in the same direction, and that exceeds what they scatter by.
std::optional<Finding> find_ramp(const Measurement& measurement,
                                 std::span<const Campaign> campaigns) {
  std::vector<double> changes;
  for (const Campaign& campaign : campaigns) {
    const auto drift = test_drift(campaign.samples);
    if (!drift || drift->p_value > ramp_p || std::fabs(drift->relative_change) < ramp)
      return std::nullopt;
    if (!changes.empty() && changes.back() * drift->relative_change < 0) return std::nullopt;
    changes.push_back(drift->relative_change);
  }
  const double change = median(changes).value_or(0);
  const double scatter = measurement.interval
                             ? (measurement.interval->hi - measurement.interval->lo) / 2 /
                                   std::fabs(*measurement.value)
                             : 0;
  if (std::fabs(change) <= std::max(ramp, scatter)) return std::nullopt;
  return Finding{Verdict::ramping,
                 fmt::format("samples drift by {:+.1f} % within a campaign", 100 * change)};
}

// Whether a campaign has at least a tenth of its samples near each of the two modes.
bool has_both(const std::vector<double>& samples, const std::vector<double>& modes) {
  const double between = (modes[0] + modes[1]) / 2;
  const auto high =
      std::count_if(samples.begin(), samples.end(), [&](double s) { return s > between; });
  const auto count = static_cast<double>(samples.size());
  const double share = static_cast<double>(high) / count;
  return share >= 0.1 && share <= 0.9;
}

// Modes within campaigns are the hardware's (near and far slices); campaigns that each sit
// elsewhere are only unstable.
std::optional<Finding> find_modes(const Measurement& measurement, Json& conditions) {
  std::vector<double> pooled;
  for (const auto& campaign : measurement.samples)
    pooled.insert(pooled.end(), campaign.begin(), campaign.end());
  const auto modality = test_modality(pooled);
  if (!modality || modality->modes.size() < 2) return std::nullopt;
  const auto mixed =
      std::count_if(measurement.samples.begin(), measurement.samples.end(),
                    [&](const auto& samples) { return has_both(samples, modality->modes); });
  if (2 * mixed < static_cast<std::ptrdiff_t>(measurement.samples.size())) return std::nullopt;
  conditions["modes"] = modality->modes;
  return Finding{Verdict::multimodal,
                 fmt::format("two groups of samples, near {} and {} (p = {:.2g})",
                             format_si(modality->modes[0], measurement.unit),
                             format_si(modality->modes[1], measurement.unit), modality->p_value)};
}

std::optional<Finding> find_instability(const Measurement& measurement) {
  if (!measurement.interval) return std::nullopt;
  const double half = (measurement.interval->hi - measurement.interval->lo) / 2;
  if (half <= wide * std::fabs(*measurement.value)) return std::nullopt;
  return Finding{Verdict::unstable, fmt::format("campaigns differ: the interval is +-{:.0f} %",
                                                100 * half / std::fabs(*measurement.value))};
}

Finding judge(const Measurement& measurement, std::span<const Campaign> campaigns,
              std::optional<double> limit, Json& conditions) {
  const auto modes = find_modes(measurement, conditions);
  if (const auto failure = find_failure(campaigns)) return *failure;
  if (limit && *measurement.value > limit_tolerance * *limit) {
    return {Verdict::above_limit,
            fmt::format("above the physical limit of {}", format_si(*limit, measurement.unit))};
  }
  if (const auto finding = find_contamination(campaigns)) return *finding;
  if (const auto finding = find_throttling(campaigns)) return *finding;
  if (const auto finding = find_ramp(measurement, campaigns)) return *finding;
  if (modes) return *modes;
  if (const auto finding = find_instability(measurement)) return *finding;
  return {};
}

// Numbers that every campaign noted (clock_hz, load_bytes_per_s, ...), as medians: what readers
// look for first.
Json common_conditions(std::span<const Campaign> campaigns) {
  Json common = Json::object();
  if (campaigns.empty()) return common;
  for (const auto& [name, first] : campaigns.front().conditions.items()) {
    std::vector<double> noted;
    for (const Campaign& campaign : campaigns) {
      const auto value = campaign.conditions.find(name);
      if (value != campaign.conditions.end() && value->is_number())
        noted.push_back(value->get<double>());
    }
    if (noted.size() == campaigns.size() && name != "seed") common[name] = *median(noted);
  }
  return common;
}

}  // namespace

Measurement summarize_campaigns(const Benchmark& benchmark, const Parameters& parameters,
                                std::span<const Campaign> campaigns, std::optional<double> limit) {
  Measurement out;
  out.quantity = benchmark.quantity;
  out.parameters = parameters;
  out.id = measurement_id(out.quantity, parameters);
  out.unit = benchmark.unit;
  out.method = benchmark.method;
  if (benchmark.work) out.work = benchmark.work(parameters);
  Json each = Json::array();
  for (const Campaign& campaign : campaigns) {
    if (!campaign.samples.empty()) out.samples.push_back(campaign.samples);
    each.push_back(campaign.conditions);
  }
  out.conditions = common_conditions(campaigns);
  out.conditions["campaigns"] = std::move(each);
  out.value = campaign_median(out.samples);
  if (!out.value) {
    const Finding finding = no_samples(campaigns);
    out.verdict = finding.verdict;
    out.reason = finding.reason;
    return out;
  }
  out.interval = bootstrap_interval(out.samples, out.level, std::hash<std::string>{}(out.id));
  const Finding finding = judge(out, campaigns, limit, out.conditions);
  out.verdict = finding.verdict;
  out.reason = finding.reason;
  if (!out.interval && out.reason.empty()) out.reason = "one campaign only: no interval";
  return out;
}

}  // namespace warpmeter
