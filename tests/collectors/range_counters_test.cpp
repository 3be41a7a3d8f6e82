// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/range_counters.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "fake_ranges.h"

namespace warpmeter {
namespace {

CUcontext context() { return reinterpret_cast<CUcontext>(0x10); }

void plant(FakeRanges& fake) {
  fake.kernels["k"] = {{"sm__A.sum", 600}, {"sm__B.sum", 30},       {"sm__C.sum", 2e9},
                       {"dram__D.sum", 7}, {cycles_counter, 10000}, {instructions_counter, 512}};
}

ReplayWork work_of(FakeRanges& fake) {
  const auto note = [&fake](const char* what) {
    return [&fake, what] { fake.log.push_back(what); };
  };
  return {note("reinitialize"), note("flush"), [&fake] { fake.launch("k"); }, note("sync")};
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RangeProfiler, ReplaysEveryPassFromFreshInputs) {
  FakeRanges fake;
  plant(fake);
  fake.counters_per_pass = 2;
  const CuptiApi api = fake.api();
  RangeProfiler profiler(api, context(), "GH100");
  fake.log.clear();
  const auto values = profiler.replay(
      small_plan({{"sm__A.sum", "sm__B.sum", "sm__C.sum", "dram__D.sum"}}), work_of(fake));
  const std::vector<std::string> pass = {"reinitialize", "flush", "sync", "Start", "Push",
                                         "launch k",     "sync",  "Pop",  "Stop"};
  std::vector<std::string> expected = {"SetConfig"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), pass.begin(), pass.end());
  expected.push_back("Decode");
  EXPECT_EQ(fake.log, expected);
  const std::map<std::string, double> planted = {{"a", 600}, {"b", 30},     {"c", 2},
                                                 {"d", 7},   {"ratio", 20}, {"same", 600. / 7}};
  for (const MetricValue& value : values) {
    EXPECT_DOUBLE_EQ(value.value.value(), planted.at(value.metric->id)) << value.metric->id;
    EXPECT_EQ(value.verdict, Verdict::ok);
  }
}

TEST(RangeProfiler, RepeatsForIntervalsAndMarksUnstableKernels) {
  FakeRanges fake;
  plant(fake);
  fake.noise = 0.01;
  const CuptiApi api = fake.api();
  RangeProfiler profiler(api, context(), "GH100");
  const CounterPlan plan = small_plan({{"sm__A.sum"}, {"sm__B.sum"}, {"sm__C.sum", "dram__D.sum"}});
  auto values = profiler.replay(plan, work_of(fake), 5);
  EXPECT_EQ(values[0].launches, 5);
  EXPECT_TRUE(values[0].interval);
  EXPECT_EQ(values[4].launches, 10);
  EXPECT_EQ(values[4].verdict, Verdict::ok);
  fake.cycles_noise = 0.1;
  values = profiler.replay(plan, work_of(fake), 5);
  EXPECT_EQ(values[4].verdict, Verdict::unstable);
  EXPECT_NE(values[4].reason.find("elapsed cycles vary by"), std::string::npos);
}

// An invariant joins only where it costs no further pass.
TEST(RangeProfiler, AddsInvariantsThatFit) {
  FakeRanges fake;
  const CuptiApi api = fake.api();
  const RangeProfiler profiler(api, context(), "GH100");
  const auto names = [&](std::size_t per_pass, std::vector<std::string> planned) {
    fake.counters_per_pass = per_pass;
    return profiler.make_group(planned).names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(3, {"x"}), (Names{"x", cycles_counter, instructions_counter}));
  EXPECT_EQ(names(2, {"x"}), (Names{"x", instructions_counter}));
  EXPECT_EQ(names(1, {"x"}), (Names{"x"}));
  EXPECT_EQ(names(2, {"x", cycles_counter}), (Names{"x", cycles_counter}));
}

TEST(RangeProfiler, RefusesACuptiThatPlansNoPass) {
  FakeRanges fake;
  fake.no_passes = true;
  const CuptiApi api = fake.api();
  const RangeProfiler profiler(api, context(), "GH100");
  EXPECT_NE(refusal([&] { profiler.make_group({"x"}); }).find("plans no pass for x"),
            std::string::npos);
}

TEST(RangeProfiler, SaysWhatCuptiRefuses) {
  for (const auto& [error, text] : std::map<int, std::string>{
           {26, "HARDWARE_BUSY"}, {27, "NOT_SUPPORTED"}, {35, "INSUFFICIENT_PRIVILEGES"}}) {
    FakeRanges fake;
    fake.errors["Enable"] = static_cast<CUptiResult>(error);
    const CuptiApi api = fake.api();
    const std::string why = refusal([&] { RangeProfiler(api, context(), "GH100"); });
    EXPECT_EQ(why.find("range: cuptiRangeProfilerEnable: "), 0u) << why;
    EXPECT_NE(why.find(text), std::string::npos) << why;
  }
}

TEST(RangeProfiler, StopsWhereAPassHasNoEnd) {
  FakeRanges fake;
  plant(fake);
  CuptiApi api = fake.api();
  api.cuptiRangeProfilerStop = [](CUpti_RangeProfiler_Stop_Params* p) {
    p->isAllPassSubmitted = 0;
    return CUPTI_SUCCESS;
  };
  RangeProfiler profiler(api, context(), "GH100");
  EXPECT_NE(refusal([&] {
              profiler.replay(small_plan({{"sm__A.sum"}}), work_of(fake));
            }).find("planned 1 passes and asks for more"),
            std::string::npos);
}

TEST(RangeProfiler, CountsTheRangesOfAnImage) {
  FakeRanges fake;
  plant(fake);
  CuptiApi api = fake.api();
  api.cuptiRangeProfilerGetCounterDataInfo = [](CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    p->numTotalRanges = 0;
    return CUPTI_SUCCESS;
  };
  RangeProfiler profiler(api, context(), "GH100");
  EXPECT_NE(refusal([&] {
              profiler.replay(small_plan({{"sm__A.sum"}}), work_of(fake));
            }).find("has 0 ranges of 1"),
            std::string::npos);
}

}  // namespace
}  // namespace warpmeter
