// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/checks.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

class Checks : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), 256), cudaSuccess);
  }
  void TearDown() override { ASSERT_EQ(cudaDeviceReset(), cudaSuccess); }
  // What the library says on stderr.
  std::string said(int which, U32* in, cudaError_t expected = cudaSuccess) {
    testing::internal::CaptureStderr();
    run_checked(which, in, out_.get());
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
    return testing::internal::GetCapturedStderr();
  }
  std::string said(int which) { return said(which, device_); }
  void expect(const std::string& text, std::initializer_list<const char*> parts) {
    if (checks_off_) {
      EXPECT_EQ(text, "");
      return;
    }
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  static std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  const bool checks_off_ = [] {
    const char* value = std::getenv("WARPMETER_EMULATED_CHECKS");
    return value != nullptr && std::string_view(value) == "off";
  }();
  U32* device_ = nullptr;
  Managed<U32> out_{std::vector<U32>(64, 1)};
};

TEST_F(Checks, UninitializedMemoryIsNamed) {
  ASSERT_EQ(cudaMemset(device_, 0, 40 * sizeof(U32)), cudaSuccess);
  const std::string text = said(reads_all);
  expect(text, {"warning: kernel ", "checkedILi0", "PTX line ", "ld.global", "block (0,0,0)",
                "thread (40,0,0)", "reads uninitialized memory, 4 B at ",
                "160 B past the begin of allocation "});
  EXPECT_EQ(lines(text), checks_off_ ? 0u : 1u);  // once per line, not per thread
  EXPECT_EQ(said(reads_all), "");                 // nor per launch
}

TEST_F(Checks, MemoryThatSomethingWroteIsInitialized) {
  EXPECT_EQ(said(reads_all, out_.get()), "");  // the host may have written managed memory
  ASSERT_EQ(cudaMemset(device_, 0, 256), cudaSuccess);
  EXPECT_EQ(said(reads_all), "");
  U32* copied = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&copied), 256), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(copied, 64, device_, 64, 64, 3, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(copied + 48, out_.get(), 64, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(said(reads_all, copied), "");
  U32* written = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&written), 256), cudaSuccess);
  run_checked(writes_all, nullptr, written);
  EXPECT_EQ(said(reads_all, written), "");
  U32* fresh = nullptr;  // only now does the line give its warning
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&fresh), 256), cudaSuccess);
  expect(said(reads_all, fresh), {"reads uninitialized memory, 4 B at "});
}

TEST_F(Checks, UninitializedSharedAndLocalMemory) {
  expect(said(reads_shared), {"reads uninitialized shared memory, 4 B at ", "thread (32,0,0)"});
  expect(said(reads_local), {"reads uninitialized local memory, 4 B at "});
  EXPECT_EQ(said(writes_then_reads_local), "");
}

TEST_F(Checks, RacesNameBothLines) {
  expect(said(race_read), {"checkedILi4", "reads shared memory that warp "});
  expect(said(race_write), {"writes shared memory that warp ", "with no barrier between"});
  ASSERT_EQ(cudaMemset(device_, 0, 256), cudaSuccess);
  expect(said(async_race), {"reads shared memory that warp ", " wrote at PTX line "});
}

TEST_F(Checks, OrderedAccessesDoNotRace) {
  for (const int which : {with_barrier, bytes_of_a_word, shared_atomics, flag})
    EXPECT_EQ(said(which), "") << which;
}

TEST_F(Checks, LanesThatDoNotComeAreAnError) {
  const std::string text = said(half_shuffles, device_, cudaErrorLaunchTimeout);
  EXPECT_NE(text.find("wait for lanes"), std::string::npos) << text;
  EXPECT_NE(text.find("shfl.sync"), std::string::npos) << text;
}

TEST_F(Checks, ALaneOutsideTheMaskIsAnError) {
  const std::string text = said(foreign_lane, device_, cudaErrorIllegalInstruction);
  EXPECT_NE(text.find("thread (31,0,0): a lane that is not in the member mask 7fffffff"),
            std::string::npos)
      << text;
}

}  // namespace
