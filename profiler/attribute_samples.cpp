// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/attribute_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "collectors/catalogue.h"
#include "core/json.h"
#include "profiler/deconvolution.h"
#include "profiler/schema.h"
#include "profiler/sqlite.h"

namespace warpmeter {
namespace {

constexpr std::size_t most_samples = 2000000;  // of a device: memory is 8 bytes for each metric

// Who sampled which device.
struct Sampled {
  std::int64_t device = 0, process = 0;
};

struct Samples {
  std::vector<std::int64_t> times;
  std::vector<const LogicalMetric*> metrics;
  std::vector<SampleSeries> series;
  std::int64_t unknown_metrics = 0, beyond = 0;
};

// Sums and maxima grow with the interval; everything else that CUPTI gives is a mean or a ratio.
SampleSeries::Kind kind_of(const LogicalMetric& metric) {
  const auto& names = metric.names;
  const bool counts = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.ends_with(".sum") || name.ends_with(".max");
  });
  return counts ? SampleSeries::Kind::count : SampleSeries::Kind::level;
}

Samples read_samples(sqlite::Connection& connection, const Sampled& sampled) {
  Samples out;
  std::map<std::string, std::size_t, std::less<>> series;
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  sqlite::Statement rows = connection.prepare(
      "SELECT s.time_ns, m.text, s.value FROM main.samples s JOIN main.strings m ON m.id = "
      "s.metric_id WHERE s.source = 'pm' AND s.device_id = ? AND s.process_id = ? ORDER BY "
      "s.time_ns, s.id");
  rows.bind(sampled.device, sampled.process);
  while (rows.step()) {
    const std::int64_t time = rows.integer(0);
    const LogicalMetric* metric = Catalogue::built_in().find(rows.text(1));
    if (metric == nullptr) {
      ++out.unknown_metrics;
      continue;
    }
    if (out.times.empty() || out.times.back() != time) {
      if (out.times.size() == most_samples) {
        ++out.beyond;
        continue;
      }
      out.times.push_back(time);
    }
    const auto [known, fresh] = series.try_emplace(metric->id, out.series.size());
    if (fresh) {
      out.metrics.push_back(metric);
      out.series.push_back({kind_of(*metric), {}});
    }
    std::vector<double>& values = out.series[known->second].values;
    values.resize(out.times.size(), nothing);
    const sqlite::Cell cell = rows.cell(2);
    if (const double* value = std::get_if<double>(&cell)) values.back() = *value;
  }
  for (SampleSeries& one : out.series) one.values.resize(out.times.size(), nothing);
  return out;
}

struct Launches {
  std::vector<KernelSpan> spans;
  std::map<std::int64_t, std::int32_t> groups;  // by shape; copies and sets have negative ones
};

void read_launches(sqlite::Connection& connection, std::int64_t device, const char* key,
                   const char* table, Launches& out) {
  sqlite::Statement rows = connection.prepare(
      fmt::format("SELECT start_ns, end_ns, {} FROM main.{} WHERE device_id = ? AND start_ns IS "
                  "NOT NULL AND end_ns IS NOT NULL",
                  key, table));
  rows.bind(device);
  while (rows.step()) {
    const auto next = static_cast<std::int32_t>(out.groups.size());
    const std::int32_t group = out.groups.try_emplace(rows.integer(2), next).first->second;
    out.spans.push_back({rows.integer(0), rows.integer(1), group});
  }
}

class Attribution {
 public:
  explicit Attribution(sqlite::Connection& connection)
      : connection_(connection),
        counter_(connection.prepare(insert_sql(profile_table("counters")))),
        loss_(connection.prepare(insert_sql(profile_table("losses")))) {}

  void add(const Sampled& sampled) {
    const Samples samples = read_samples(connection_, sampled);
    if (samples.unknown_metrics != 0)
      lose(sampled, samples.unknown_metrics, "the metric is not in this version's catalogue");
    if (samples.beyond != 0)
      lose(sampled, samples.beyond, "samples behind the first two million are not attributed");
    Launches launches;
    read_launches(connection_, sampled.device, "shape_id", "kernels", launches);
    read_launches(connection_, sampled.device, "-1", "copies", launches);
    read_launches(connection_, sampled.device, "-2", "sets", launches);
    if (samples.times.size() < 2 || launches.spans.empty()) return;
    Timeline timeline(std::move(launches.spans), static_cast<std::int32_t>(launches.groups.size()));
    const Deconvolution result = deconvolve(samples.times, samples.series, timeline);
    std::vector<std::int64_t> shapes(launches.groups.size());
    for (const auto& [shape, group] : launches.groups) shapes[std::size_t(group)] = shape;
    for (const auto& [shape, group] : launches.groups) {
      if (shape < 0) continue;
      for (std::size_t m = 0; m < samples.metrics.size(); ++m)
        write(sampled, shape, *samples.metrics[m], result.values[m][std::size_t(group)], shapes);
    }
    described.push_back({{"device_id", sampled.device},
                         {"process_id", sampled.process},
                         {"samples", samples.times.size()},
                         {"clock_offset_ns", result.clock_offset_ns},
                         {"clock_offset_sd_ns", result.clock_offset_sd_ns},
                         {"boundary_sd_ns", result.boundary_sd_ns}});
  }

  Json described = Json::array();

 private:
  void write(const Sampled& sampled, std::int64_t shape, const LogicalMetric& metric,
             const GroupValue& value, const std::vector<std::int64_t>& shapes) {
    std::string reason = value.reason;
    if (value.confused_with && shapes[std::size_t(*value.confused_with)] >= 0)
      reason += fmt::format(" (shape {})", shapes[std::size_t(*value.confused_with)]);
    const auto level = value.low ? std::optional(default_level) : std::nullopt;
    const auto said = reason.empty() ? std::nullopt : std::optional<std::string_view>(reason);
    counter_
        .bind(nullptr, nullptr, shape, nullptr, sampled.device, string_id(metric.id), value.value,
              to_string(metric.unit), std::string_view("pm"), std::string_view("device"), nullptr,
              value.low, value.high, level, to_string(value.verdict), said)
        .run();
  }

  void lose(const Sampled& sampled, std::int64_t count, std::string_view reason) {
    loss_
        .bind(nullptr, sampled.process, std::string_view("merge"), std::string_view("samples"),
              count, nullptr, nullptr, reason)
        .run();
  }

  // Metrics that were sampled are there already.
  std::int64_t string_id(std::string_view text) {
    sqlite::Statement find = connection_.prepare("SELECT id FROM main.strings WHERE text = ?");
    find.bind(text);
    find.step();
    return find.integer(0);
  }

  sqlite::Connection& connection_;
  sqlite::Statement counter_, loss_;
};

}  // namespace

void attribute_samples(sqlite::Connection& connection) {
  std::vector<Sampled> all;
  sqlite::Statement rows = connection.prepare(
      "SELECT DISTINCT device_id, process_id FROM main.samples WHERE source = 'pm' ORDER BY 1, 2");
  while (rows.step()) all.push_back({rows.integer(0), rows.integer(1)});
  rows.reset();
  if (all.empty()) return;
  connection.execute(
      "DELETE FROM main.counters WHERE source = 'pm' AND shape_id IS NOT NULL AND device_id IN "
      "(SELECT device_id FROM main.samples WHERE source = 'pm')");
  Attribution attribution(connection);
  for (const Sampled& sampled : all) attribution.add(sampled);
  const std::string text = attribution.described.dump();
  connection.prepare("INSERT OR REPLACE INTO main.meta VALUES('pm_attribution', ?)")
      .bind(std::string_view(text))
      .run();
}

}  // namespace warpmeter
