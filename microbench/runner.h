// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/benchmark.h"
#include "core/sampler.h"
#include "microbench/journal.h"

namespace warpmeter {

struct RunnerOptions {
  Effort effort = Effort::standard;
  int campaigns = 4;
  double time_budget_s = 0;  // 0: none; when it is used up, no further campaign begins
  Sampler sampler;
  std::filesystem::path journal;
  Journal::Existing existing = Journal::Existing::refuse;
  std::vector<std::string> benchmark_flags;  // "--benchmark_..." for Google Benchmark
  std::string job;                           // shown with the progress
  bool lists_only = false;                   // --benchmark_list_tests: run nothing
};

struct RunnerResult {
  std::vector<Measurement> measurements;  // in the order of the table
  bool complete =
      true;  // false if interrupted or out of time: then `missing` counts campaigns not run
  int missing = 0;
};

// Runs every point of every row under Google Benchmark: one benchmark per point, one repetition per
// campaign, in random interleaved order, so that slow drift of the machine is not confounded with
// the axis of a sweep. Google Benchmark's flags select
// (--benchmark_filter), repeat (--benchmark_repetitions: campaigns) and report (--benchmark_format,
// --benchmark_out). Throws InputError for a bad flag or filter.
RunnerResult run_benchmarks(std::span<const Benchmark> table, const Device& device,
                            const RunnerOptions& options);

}  // namespace warpmeter
