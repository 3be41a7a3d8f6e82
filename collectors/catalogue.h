// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/formula.h"
#include "core/json.h"
#include "core/unit.h"

namespace warpmeter {

// What a counter watches. The range profiler schedules counters of a context (SM, L1, L2, DRAM) and
// of a device (links) only apart; `any` goes with either; `instrumented` ones patch the kernel's
// instructions, so they are never planned with anything else.
enum class CounterScope { any, context, device, instrumented };

std::string_view to_string(CounterScope scope);

// A quantity that a user asks for, and the counters that give it on one chip or another.
struct LogicalMetric {
  std::string id;                  // "dram.bytes_read"
  Unit unit;                       // of the value after scaling
  double scale;                    // what the counter's value is multiplied by
  CounterScope scope;              // of all its names; `any` if it has none
  std::string means;               // one line for people
  std::vector<std::string> names;  // CUPTI names with roll-up, the first that works is used
  std::optional<Formula> formula;  // over other logical metrics, used if no name works
  std::vector<std::string> sets;

  bool in(std::string_view set) const;
};

// The purposes that metrics are grouped by: diagnose, tensor, memory, links, stalls.
const std::vector<std::string>& metric_sets();

class Catalogue {
 public:
  // Reads a warpmeter.metric_catalogue/1 document. Throws InputError naming `where`, the metric and
  // what is wrong: a missing or unknown key, unit, scope or set, a doubled id or name, a name
  // without roll-up, a formula that does not parse, refers to nothing, or to itself in a circle.
  static Catalogue read(const Json& document, std::string_view where);

  // The one that is built in (collectors/catalogue.json).
  static const Catalogue& built_in();

  const std::vector<LogicalMetric>& metrics() const { return metrics_; }

  // Null if there is none of this id.
  const LogicalMetric* find(std::string_view id) const;

  // In the catalogue's order. Throws InputError, with the names of the sets, if there is no `set`.
  std::vector<const LogicalMetric*> of_set(std::string_view set) const;

 private:
  std::vector<LogicalMetric> metrics_;
};

}  // namespace warpmeter
