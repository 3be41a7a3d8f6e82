// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Injection: when, how often, and in which process.
#include <cupti.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "tests/emulator/driver/run.h"

namespace driver_test {
namespace {

constexpr int kernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

TEST(DriverProcess, InjectsOnce) {
  const Result result = run("many 3");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.having("injected").size(), 1u);
  EXPECT_EQ(result.having("injected")[0]["version"], 130001);
  EXPECT_EQ(result.having("injected")[0]["init"], 0);
  EXPECT_EQ(result.output, "");
}

TEST(DriverProcess, InjectsNothingWithoutTheDriversFolder) {
  const Result result = run("many 3", {}, Driver::absent);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(result.lines.empty());
  EXPECT_EQ(result.counters.size(), 3u) << "the program ran";
}

TEST(DriverProcess, ProgramsOfTheDriverAloneAreInjectedToo) {
  const Result result = run("", {}, Driver::present, DRIVER_ONLY);
  EXPECT_EQ(WEXITSTATUS(result.status), 0) << result.output;
  EXPECT_EQ(result.having("injected").size(), 1u);
  EXPECT_EQ(result.output,
            "before 3\ninit 0 0\nversion 13000\ndevices 1\nname warpmeter emulated tiny\nsms 4\n"
            "context 0 1\naddress 1\n");
}

TEST(DriverProcess, AChildOfAProcessWithoutCudaIsItsOwn) {
  const Result result = run("fork");
  EXPECT_EQ(result.output, "child cudaSuccess\nstatus 0\n");
  EXPECT_EQ(result.having("injected").size(), 1u) << "the parent never used CUDA";
  EXPECT_EQ(result.records(kernel).size(), 2u);
}

TEST(DriverProcess, AChildOfAProcessWithCudaHasNone) {
  const Result result = run("late_fork");
  EXPECT_EQ(result.output, "child cudaErrorInitializationError\nstatus 0\n");
  EXPECT_EQ(result.having("injected").size(), 1u);
  // The child's exit handler finds a CUPTI that does nothing; the parent's delivers once.
  EXPECT_EQ(result.records(kernel).size(), 1u);
}

TEST(DriverProcess, AResetEndsTheContext) {
  const Result result = run("reset");
  const auto kernels = result.records(kernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_NE(kernels[0]["context"], kernels[1]["context"]);
  std::vector<int> told;
  for (const Json& line : result.having("callback")) {
    if (line["callback"] == "resource") told.push_back(line["cbid"]);
  }
  EXPECT_EQ(told, (std::vector<int>{CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                    CUPTI_CBID_RESOURCE_CONTEXT_CREATED}));
}

}  // namespace
}  // namespace driver_test
