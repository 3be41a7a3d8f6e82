// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/runner.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <regex>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "core/stats.h"
#include "core/version.h"
#include "microbench/summary.h"

namespace warpmeter {
namespace {

struct Point {
  const Benchmark* row = nullptr;
  Parameters parameters;
  std::string id;
  std::string unsupported;
  std::vector<Campaign> campaigns;
};

// Google Benchmark's rule for --benchmark_filter, applied to our ids, so that the journal knows
// what was selected.
class Filter {
 public:
  explicit Filter(std::string text) {
    if (text.empty() || text == "all") text = ".";
    negative_ = text.front() == '-';
    try {
      pattern_ = std::regex(negative_ ? text.substr(1) : text, std::regex::extended);
    } catch (const std::regex_error&) {
      throw InputError(fmt::format("--benchmark_filter={}: not a valid regular expression", text));
    }
  }

  bool keeps(const std::string& id) const { return std::regex_search(id, pattern_) != negative_; }

 private:
  bool negative_ = false;
  std::regex pattern_;
};

// Everything that the callbacks of Google Benchmark need.
class Job {
 public:
  Job(std::span<const Benchmark> table, const Device& device, const RunnerOptions& options,
      const Filter& filter)
      : device_(device), options_(options), begin_(std::chrono::steady_clock::now()) {
    for (const Benchmark& row : table) {
      for (Parameters& parameters : row.points(device, options.effort)) {
        if (filter.keeps(measurement_id(row.quantity, parameters))) add(row, std::move(parameters));
      }
    }
  }

  std::vector<Point>& points() { return points_; }

  void open_journal(int campaigns) {
    const Json job{{"journal", "warpmeter.journal/1"},
                   {"version", WARPMETER_VERSION},
                   {"device", to_string(device_)},
                   {"effort", static_cast<int>(options_.effort)},
                   {"campaigns", campaigns}};
    journal_ = std::make_unique<Journal>(options_.journal, job, options_.existing);
    total_ = static_cast<int>(points_.size()) * campaigns;
    progress_ = std::make_unique<Progress>(options_.job, total_);
  }

  // The next campaign of a point: one that an earlier run finished, or a new one. False if time or
  // patience is over.
  bool advance(Point& point) {
    const auto& finished = journal_->finished(point.id);
    const std::size_t index = point.campaigns.size();
    if (index < finished.size()) {
      point.campaigns.push_back(finished[index]);
    } else if (!point.unsupported.empty()) {
      Campaign campaign;
      campaign.verdict = Verdict::unsupported;
      campaign.reason = point.unsupported;
      point.campaigns.push_back(std::move(campaign));
    } else {
      if (stopped()) return false;
      progress_->step(point.id, done_);
      Campaign campaign = run_campaign(*point.row, device_, point.parameters, options_.sampler);
      if (interrupted()) return false;  // it may have been cut short
      journal_->append(point.id, campaign);
      point.campaigns.push_back(std::move(campaign));
    }
    progress_->step(point.id, ++done_);
    return true;
  }

  RunnerResult result() {
    progress_.reset();
    RunnerResult result;
    result.missing = total_ - done_;
    result.complete = result.missing == 0;
    for (const Point& point : points_) {
      if (point.campaigns.empty()) continue;
      const auto limit =
          point.row->limit ? point.row->limit(device_, point.parameters) : std::nullopt;
      result.measurements.push_back(
          summarize_campaigns(*point.row, point.parameters, point.campaigns, limit));
    }
    if (journal_ && result.complete) journal_->remove();
    return result;
  }

 private:
  void add(const Benchmark& row, Parameters parameters) {
    Point point;
    point.row = &row;
    point.id = measurement_id(row.quantity, parameters);
    if (row.unsupported) point.unsupported = row.unsupported(device_, parameters).value_or("");
    point.parameters = std::move(parameters);
    points_.push_back(std::move(point));
  }

  bool stopped() const {
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return interrupted() || (options_.time_budget_s > 0 && spent > options_.time_budget_s);
  }

  const Device& device_;
  const RunnerOptions& options_;
  std::chrono::steady_clock::time_point begin_;
  std::vector<Point> points_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Progress> progress_;
  int total_ = 0;
  int done_ = 0;
};

void run_repetition(benchmark::State& state, Job& job, Point& point) {
  for (auto _ : state) {
    if (!job.advance(point)) {
      state.SkipWithError("not run: interrupted or out of time");
      return;
    }
    const Campaign& campaign = point.campaigns.back();
    if (campaign.samples.empty()) {
      state.SkipWithError(campaign.reason.c_str());
      return;
    }
    const double value = *median(campaign.samples);
    state.SetIterationTime(point.row->unit == Unit::second ? value : campaign.median_elapsed_s);
    state.counters[std::string(to_string(point.row->unit))] = value;
  }
}

class NoReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// The filter has been applied already. Flags that Google Benchmark cannot read are left in the
// list.
void initialize_google_benchmark(const RunnerOptions& options, int campaigns) {
  std::vector<std::string> arguments = {"warpmeter", "--benchmark_enable_random_interleaving=true",
                                        fmt::format("--benchmark_repetitions={}", campaigns)};
  for (const std::string& flag : options.benchmark_flags) {
    if (flag.rfind("--benchmark_filter", 0) != 0) arguments.push_back(flag);
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1)
    throw InputError(
        fmt::format("bad option {}: see Google Benchmark's user guide for its flags", pointers[1]));
}

std::string flag_value(const RunnerOptions& options, std::string_view name) {
  const std::string prefix = fmt::format("--{}=", name);
  std::string value;
  for (const std::string& flag : options.benchmark_flags) {
    if (flag.rfind(prefix, 0) == 0) value = flag.substr(prefix.size());
  }
  return value;
}

int campaign_count(const RunnerOptions& options) {
  const std::string text = flag_value(options, "benchmark_repetitions");
  if (text.empty()) return options.campaigns;
  try {
    const int count = std::stoi(text);
    if (count >= 1 && count <= 1000) return count;
  } catch (const std::exception&) {
  }
  throw InputError(
      fmt::format("--benchmark_repetitions={}: a whole number from 1 to 1000 is needed", text));
}

}  // namespace

RunnerResult run_benchmarks(std::span<const Benchmark> table, const Device& device,
                            const RunnerOptions& options) {
  const int campaigns = campaign_count(options);
  Job job(table, device, options, Filter(flag_value(options, "benchmark_filter")));
  if (job.points().empty())
    throw InputError("nothing to run: no benchmark of this device matches; see `warpmeter list`");
  initialize_google_benchmark(options, campaigns);
  benchmark::ClearRegisteredBenchmarks();
  for (Point& point : job.points()) {
    benchmark::RegisterBenchmark(
        point.id.c_str(),
        [&job, &point](benchmark::State& state) { run_repetition(state, job, point); })
        ->Iterations(1)
        ->UseManualTime();
  }
  if (!options.lists_only) job.open_journal(campaigns);
  NoReporter silent;
  const bool reported = options.lists_only || !flag_value(options, "benchmark_format").empty();
  benchmark::RunSpecifiedBenchmarks(reported ? nullptr : &silent);
  return job.result();
}

}  // namespace warpmeter
