// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/runner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/microbench/fake_benchmark.h"

namespace warpmeter {
namespace {

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "runner.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.journal = folder_ / "x.partial";
    options_.campaigns = 3;
    options_.sampler = Sampler({3, 5, 0.5, 0.01});
    options_.job = "test";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RunnerResult run(const std::vector<Benchmark>& table) {
    return run_benchmarks(table, {}, options_);
  }

  std::filesystem::path folder_;
  RunnerOptions options_;
};

using Runner = RunnerTest;

TEST_F(Runner, RunsEveryPointInEveryCampaign) {
  int samples = 0;
  const RunnerResult result =
      run({fake_row("a", 2, [&] { return ++samples, 1.0; }), fake_row("b", 1, [] { return 2.0; })});
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(result.measurements.size(), 3u);
  EXPECT_EQ(result.measurements[0].id, "a/point=0");
  EXPECT_EQ(result.measurements[0].samples.size(), 3u);
  EXPECT_EQ(result.measurements[2].value, 2.0);
  EXPECT_EQ(samples, 2 * 3 * 3);
  EXPECT_FALSE(std::filesystem::exists(options_.journal));
}

TEST_F(Runner, GoogleBenchmarksFlagsSelectAndRepeat) {
  options_.benchmark_flags = {"--benchmark_filter=point=1$", "--benchmark_repetitions=4"};
  const RunnerResult result = run({fake_row("a", 3, [] { return 1.0; })});
  ASSERT_EQ(result.measurements.size(), 1u);
  EXPECT_EQ(result.measurements[0].id, "a/point=1");
  EXPECT_EQ(result.measurements[0].samples.size(), 4u);
}

TEST_F(Runner, AMinusInvertsTheFilter) {
  options_.benchmark_flags = {"--benchmark_filter=-point=1"};
  EXPECT_EQ(run({fake_row("a", 3, [] { return 1.0; })}).measurements.size(), 2u);
}

TEST_F(Runner, BadFlagsAreNamed) {
  for (const std::string flag :
       {"--benchmark_filter=(", "--benchmark_repetitions=0", "--benchmark_repetitions=x",
        "--benchmark_nonsense=1", "--benchmark_filter=nothing_matches"}) {
    options_.benchmark_flags = {flag};
    EXPECT_THROW(run({fake_row("a", 1, [] { return 1.0; })}), InputError) << flag;
  }
}

TEST_F(Runner, AFailureIsAVerdictAndTheRestGoesOn) {
  const RunnerResult result =
      run({fake_row("a", 1, []() -> double { throw std::runtime_error("corrupt: bad"); }),
           fake_row("b", 1, []() -> double { throw UnsupportedError("no such instruction"); }),
           fake_row("c", 1, [] { return 3.0; })});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.measurements[0].verdict, Verdict::failed);
  EXPECT_EQ(result.measurements[0].reason, "corrupt: bad");
  EXPECT_EQ(result.measurements[1].verdict, Verdict::unsupported);
  EXPECT_EQ(result.measurements[2].value, 3.0);
}

TEST_F(Runner, UnsupportedPointsAreNotRun) {
  Benchmark row = fake_row("a", 1, []() -> double {
    ADD_FAILURE() << "was run";
    return 1;
  });
  row.unsupported = [](const Device&, const Parameters&) {
    return std::optional<std::string>("one core only");
  };
  const RunnerResult result = run({row});
  EXPECT_EQ(result.measurements[0].verdict, Verdict::unsupported);
  EXPECT_EQ(result.measurements[0].reason, "one core only");
}

TEST_F(Runner, ATimeBudgetEndsEarlyAndSaysSo) {
  options_.time_budget_s = 1e-9;
  const RunnerResult result = run({fake_row("a", 5, [] { return 1.0; })});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.missing, 15);
  EXPECT_TRUE(std::filesystem::exists(options_.journal));
}

TEST_F(Runner, ResumeKeepsFinishedCampaignsAndACutLineCostsOne) {
  options_.time_budget_s = 1e-9;
  run({fake_row("a", 2, [] { return 1.0; })});  // writes the journal's head only
  options_.time_budget_s = 0;
  {
    Campaign done;
    done.samples = {42, 42, 42};
    std::ofstream out(options_.journal, std::ios::app);
    out << Json{{"id", "a/point=0"}, {"campaign", to_json(done)}}.dump()
        << "\n{\"id\": \"a/point=1\", \"camp";
  }
  EXPECT_THROW(run({fake_row("a", 2, [] { return 1.0; })}),
               InputError);  // neither resumed nor discarded
  options_.existing = Journal::Existing::resume;
  const RunnerResult result = run({fake_row("a", 2, [] { return 1.0; })});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.measurements[0].samples[0], (std::vector<double>{42, 42, 42}));
  EXPECT_EQ(result.measurements[0].samples.size(), 3u);
  EXPECT_EQ(result.measurements[1].samples[0][0], 1.0);
}

TEST_F(Runner, ResumeRefusesAnotherJob) {
  options_.time_budget_s = 1e-9;
  run({fake_row("a", 1, [] { return 1.0; })});
  options_.existing = Journal::Existing::resume;
  options_.campaigns = 5;
  EXPECT_THROW(run({fake_row("a", 1, [] { return 1.0; })}), InputError);
}

TEST_F(Runner, AnUnwritableJournalIsSaidBeforeAnythingIsMeasured) {
  options_.journal = folder_ / "missing" / "x.partial";
  EXPECT_THROW(run({fake_row("a", 1,
                             []() -> double {
                               ADD_FAILURE() << "was run";
                               return 1;
                             })}),
               InputError);
}

}  // namespace
}  // namespace warpmeter
