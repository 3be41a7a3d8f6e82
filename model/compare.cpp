// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/table.h"

namespace warpmeter {
namespace {

struct Value {
  double value;
  std::optional<Interval> interval;
  Unit unit;
};
using Values = std::map<std::string, Value>;

Values values_of(const Machine& machine) {
  Values values;
  for (const auto& [name, p] : machine.parameters) {
    if (p.value) values.emplace(name, Value{*p.value, p.interval, p.unit});
  }
  return values;
}

Values values_of(const Run& run) {
  Values values;
  for (const Measurement& m : run.measurements) {
    if (m.value && usable(m.verdict)) values.emplace(m.id, Value{*m.value, m.interval, m.unit});
  }
  return values;
}

template <class Document>
void require_same_origin(const Document& a, const Document& b) {
  const auto refuse_if_different = [](std::string_view what, std::string_view of_a,
                                      std::string_view of_b) {
    if (of_a == of_b) return;
    throw InputError(
        fmt::format("cannot compare: {} is \"{}\" in the first and \"{}\" in the second document; "
                    "ask for a mixed comparison if that is meant",
                    what, of_a, of_b));
  };
  refuse_if_different("source", to_string(a.source), to_string(b.source));
  refuse_if_different("device", a.device, b.device);
  for (const std::string fact : {"cpu.model", "name", "product", "emulated.chip_hash"}) {
    refuse_if_different(fact, fact_text(a.facts, fact), fact_text(b.facts, fact));
  }
}

double gap_between(const Interval& a, const Interval& b) {
  return std::max({a.lo - b.hi, b.lo - a.hi, 0.0});
}

void compare_one(Comparison& result, const std::string& name, const Value& a, const Value& b) {
  if (a.unit != b.unit) {
    throw InputError(
        fmt::format("cannot compare {}: its unit is {} in the first and {} in the "
                    "second document",
                    name, to_string(a.unit), to_string(b.unit)));
  }
  if (!a.interval || !b.interval) {
    result.without_interval.push_back(name);
    return;
  }
  ++result.compared;
  const double gap = gap_between(*a.interval, *b.interval);
  if (gap <= 0) {
    ++result.overlapping;
    return;
  }
  Difference difference{name, a.unit, a.value, b.value, *a.interval, *b.interval, 0, 0};
  if (a.value != 0) {
    difference.change = b.value / a.value - 1;
    difference.gap = gap / std::abs(a.value);
  }
  result.differences.push_back(std::move(difference));
}

Comparison compare_values(const Values& a, const Values& b) {
  Comparison result;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      result.only_a.push_back(name);
    } else {
      compare_one(result, name, value, other->second);
    }
  }
  for (const auto& [name, value] : b) {
    if (!a.contains(name)) result.only_b.push_back(name);
  }
  std::stable_sort(result.differences.begin(), result.differences.end(),
                   [](const Difference& x, const Difference& y) {
                     return std::abs(x.change) > std::abs(y.change);
                   });
  return result;
}

std::string format_interval(const Interval& interval, Unit unit) {
  return fmt::format("{} .. {}", format_si(interval.lo, unit), format_si(interval.hi, unit));
}

}  // namespace

std::optional<double> Comparison::share_overlapping() const {
  if (compared == 0) return std::nullopt;
  return static_cast<double>(overlapping) / static_cast<double>(compared);
}

Comparison compare(const Machine& a, const Machine& b, Mixing mixing) {
  if (mixing == Mixing::refuse) require_same_origin(a, b);
  return compare_values(values_of(a), values_of(b));
}

Comparison compare(const Run& a, const Run& b, Mixing mixing) {
  if (mixing == Mixing::refuse) require_same_origin(a, b);
  return compare_values(values_of(a), values_of(b));
}

Json to_json(const Comparison& comparison) {
  Json differences = Json::array();
  for (const Difference& d : comparison.differences) {
    differences.push_back({{"name", d.name},
                           {"unit", to_string(d.unit)},
                           {"a", d.a},
                           {"b", d.b},
                           {"interval_a", {d.interval_a.lo, d.interval_a.hi}},
                           {"interval_b", {d.interval_b.lo, d.interval_b.hi}},
                           {"change", d.change},
                           {"gap", d.gap}});
  }
  const std::optional<double> share = comparison.share_overlapping();
  return Json{{"compared", comparison.compared},
              {"overlapping", comparison.overlapping},
              {"share_overlapping", share ? Json(*share) : Json()},
              {"differences", std::move(differences)},
              {"without_interval", comparison.without_interval},
              {"only_a", comparison.only_a},
              {"only_b", comparison.only_b}};
}

std::string format_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (const Difference& d : comparison.differences) {
    rows.push_back({d.name, format_si(d.a, d.unit), format_interval(d.interval_a, d.unit),
                    format_si(d.b, d.unit), format_interval(d.interval_b, d.unit),
                    fmt::format("{:+.1f} %", 100 * d.change),
                    fmt::format("{:.1f} %", 100 * d.gap)});
  }
  std::string text;
  if (!rows.empty()) {
    text = format_table({"differs", "A", "A interval", "B", "B interval", "change", "gap"}, rows);
  }
  const std::optional<double> share = comparison.share_overlapping();
  text += share ? fmt::format("{} of {} intervals overlap ({:.1f} %)\n", comparison.overlapping,
                              comparison.compared, 100 * *share)
                : "nothing to compare: no value has an interval in both\n";
  if (!comparison.without_interval.empty()) {
    text += fmt::format("without an interval in both: {}\n",
                        fmt::join(comparison.without_interval, ", "));
  }
  if (!comparison.only_a.empty()) {
    text += fmt::format("only in A: {}\n", fmt::join(comparison.only_a, ", "));
  }
  if (!comparison.only_b.empty()) {
    text += fmt::format("only in B: {}\n", fmt::join(comparison.only_b, ", "));
  }
  return text;
}

}  // namespace warpmeter
