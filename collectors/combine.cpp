// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/stats.h"

namespace warpmeter {
namespace {

using CounterValues = std::map<std::string, double, std::less<>>;

struct Place {
  std::size_t group, column;
};

struct Moments {
  double mean = 0, variance = 0;  // of one value; 0 below two
};

Moments moments(const std::vector<double>& values) {
  const double count = static_cast<double>(values.size());
  Moments out;
  for (const double value : values) out.mean += value / count;
  for (const double value : values)
    if (values.size() > 1) out.variance += (value - out.mean) * (value - out.mean) / (count - 1);
  return out;
}

class Combiner {
 public:
  Combiner(const CounterPlan& plan, const PassSamples& samples) : plan_(plan), samples_(samples) {
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      for (std::size_t c = 0; c < plan.groups[g].size(); ++c) {
        places_[plan.groups[g][c]] = {g, c};
        if (samples.groups[g].empty()) continue;
        std::vector<double> column;
        for (const std::vector<double>& launch : samples.groups[g]) column.push_back(launch[c]);
        means_[plan.groups[g][c]] = moments(column).mean;
      }
    unstable_ = why_unstable(samples.invariants);
  }

  MetricValue value(const WantedMetric& wanted) const {
    MetricValue out;
    out.metric = wanted.metric;
    out.scope = scope_of(plan_, wanted);
    out.reason = why_not(wanted);
    out.verdict = out.reason.empty() ? Verdict::ok : Verdict::unsupported;
    if (!out.reason.empty()) return out;
    std::set<std::string> counters;
    gather(wanted, counters);
    std::set<std::size_t> groups;
    for (const std::string& counter : counters) {
      const auto place = places_.find(counter);
      if (place == places_.end() || samples_.groups[place->second.group].empty()) {
        out.verdict = Verdict::failed;
        out.reason = fmt::format("no launch was measured for {}", counter);
        return out;
      }
      groups.insert(place->second.group);
    }
    out.value = evaluate(wanted, means_);
    for (const std::size_t group : groups)
      out.launches += static_cast<std::int64_t>(samples_.groups[group].size());
    if (!out.value || !std::isfinite(*out.value)) {
      out.value = std::nullopt;
      out.verdict = Verdict::failed;
      out.reason = "its counters give no finite value";
      return out;
    }
    out.interval = interval(wanted, counters, groups, *out.value);
    if (!out.interval) out.reason = "a pass was taken once: no interval";
    if (unstable_.empty()) return out;
    out.verdict = Verdict::unstable;
    out.reason = unstable_;
    return out;
  }

 private:
  std::string why_not(const WantedMetric& wanted) const {
    if (!wanted.why.empty() || !wanted.counter.empty() || !wanted.metric->formula)
      return wanted.why;
    for (const std::string& id : wanted.metric->formula->inputs()) {
      const WantedMetric* input = plan_.find(id);
      const std::string why = input == nullptr ? "it is not planned" : why_not(*input);
      if (!why.empty()) return fmt::format("it needs {}: {}", id, why);
    }
    return {};
  }

  void gather(const WantedMetric& wanted, std::set<std::string>& counters) const {
    if (!wanted.counter.empty()) {
      counters.insert(wanted.counter);
      return;
    }
    if (!wanted.metric->formula) return;
    for (const std::string& id : wanted.metric->formula->inputs())
      if (const WantedMetric* input = plan_.find(id)) gather(*input, counters);
  }

  std::optional<double> evaluate(const WantedMetric& wanted, const CounterValues& values) const {
    if (!wanted.counter.empty()) {
      const auto found = values.find(wanted.counter);
      return found == values.end() ? std::nullopt
                                   : std::optional(found->second * wanted.metric->scale);
    }
    if (!wanted.metric->formula) return std::nullopt;
    return wanted.metric->formula->evaluate([&](const std::string& id) -> std::optional<double> {
      const WantedMetric* input = plan_.find(id);
      return input == nullptr ? std::nullopt : evaluate(*input, values);
    });
  }

  // By central differences: formulas are rational, so a step of 1e-5 is good for nine digits.
  double slope(const WantedMetric& wanted, const std::string& counter) const {
    CounterValues moved = means_;
    double& at = moved[counter];
    const double centre = at;
    const double step = centre == 0 ? 1e-5 : 1e-5 * std::abs(centre);
    at = centre + step;
    const auto above = evaluate(wanted, moved);
    at = centre - step;
    const auto below = evaluate(wanted, moved);
    return above && below ? (*above - *below) / (2 * step) : std::nan("");
  }

  std::optional<Interval> interval(const WantedMetric& wanted,
                                   const std::set<std::string>& counters,
                                   const std::set<std::size_t>& groups, double value) const {
    double total = 0, weighted = 0;
    for (const std::size_t group : groups) {
      const auto& launches = samples_.groups[group];
      if (launches.size() < 2) return std::nullopt;
      std::vector<double> moved(launches.size(), 0.0);
      for (const std::string& counter : counters) {
        const Place& place = places_.find(counter)->second;
        if (place.group != group) continue;
        const double by = slope(wanted, counter), mean = means_.find(counter)->second;
        for (std::size_t i = 0; i < launches.size(); ++i)
          moved[i] += by * (launches[i][place.column] - mean);
      }
      const double count = static_cast<double>(launches.size());
      const double square = moments(moved).variance / count;
      total += square;
      weighted += square * square / (count - 1);
    }
    if (!std::isfinite(total)) return std::nullopt;
    if (total == 0) return Interval{value, value};
    const double width =
        student_t(default_level, std::max(1.0, total * total / weighted)) * std::sqrt(total);
    return Interval{value - width, value + width};
  }

  const CounterPlan& plan_;
  const PassSamples& samples_;
  std::map<std::string, Place, std::less<>> places_;
  CounterValues means_;
  std::string unstable_;
};

}  // namespace

std::optional<double> variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const Moments m = moments(values);
  if (m.mean == 0) return std::nullopt;
  return std::sqrt(m.variance) / std::abs(m.mean);
}

std::string why_unstable(const std::vector<Invariants>& launches) {
  std::vector<double> cycles, instructions;
  for (const Invariants& launch : launches) {
    if (launch.cycles) cycles.push_back(*launch.cycles);
    if (launch.instructions) instructions.push_back(*launch.instructions);
  }
  const auto varies = [](const char* what, const std::vector<double>& values) {
    const std::optional<double> cv = variation(values);
    if (!cv || *cv <= invariant_limit) return std::string();
    return fmt::format("{} vary by {:.1f} % over {} launches (limit {:.0f} %)", what, 100 * *cv,
                       values.size(), 100 * invariant_limit);
  };
  const std::string executed = varies("executed instructions", instructions);
  const std::string elapsed = varies("elapsed cycles", cycles);
  return executed.empty() || elapsed.empty() ? executed + elapsed : executed + "; " + elapsed;
}

std::vector<MetricValue> combine(const CounterPlan& plan, const PassSamples& samples) {
  const Combiner combiner(plan, samples);
  std::vector<MetricValue> out;
  for (const WantedMetric& wanted : plan.metrics) out.push_back(combiner.value(wanted));
  return out;
}

}  // namespace warpmeter
