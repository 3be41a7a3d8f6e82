// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_error.h"

#include <gtest/gtest.h>

#include <algorithm>

#ifdef WARPMETER_CUPTI_HEADERS
#include <cupti_result.h>
#endif

namespace warpmeter {
namespace {

TEST(CuptiError, TheTableIsInOrderAndComplete) {
  const auto& errors = cupti_errors();
  ASSERT_EQ(errors.size(), 47U);  // 1 to 46, and 999
  for (std::size_t i = 0; i + 1 < errors.size(); ++i) EXPECT_EQ(errors[i].code, int(i) + 1);
  EXPECT_EQ(errors.back().code, 999);
  for (const CuptiError& error : errors) EXPECT_GT(std::string(error.meaning).size(), 10U);
}

#ifdef WARPMETER_CUPTI_HEADERS
#define EXPECT_NAME(name)                         \
  EXPECT_EQ(cupti_error_name(CUPTI_ERROR_##name), \
            "CUPTI_ERROR_" #name " (" + std::to_string(CUPTI_ERROR_##name) + ")")
TEST(CuptiError, NamesAreThoseOfTheHeader) {
  EXPECT_NAME(INVALID_PARAMETER);
  EXPECT_NAME(PARAMETER_SIZE_NOT_SUFFICIENT);
  EXPECT_NAME(NOT_INITIALIZED);
  EXPECT_NAME(INVALID_METRIC_NAME);
  EXPECT_NAME(DISABLED);
  EXPECT_NAME(HARDWARE_BUSY);
  EXPECT_NAME(NOT_SUPPORTED);
  EXPECT_NAME(UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
  EXPECT_NAME(INSUFFICIENT_PRIVILEGES);
  EXPECT_NAME(OLD_PROFILER_API_INITIALIZED);
  EXPECT_NAME(LEGACY_PROFILER_NOT_SUPPORTED);
  EXPECT_NAME(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_NAME(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  EXPECT_NAME(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  EXPECT_NAME(CMP_DEVICE_NOT_SUPPORTED);
  EXPECT_NAME(MIG_DEVICE_NOT_SUPPORTED);
  EXPECT_NAME(SLI_DEVICE_NOT_SUPPORTED);
  EXPECT_NAME(WSL_DEVICE_NOT_SUPPORTED);
  EXPECT_NAME(INVALID_CHIP_NAME);
  EXPECT_NAME(UNKNOWN);
}
#endif

TEST(CuptiError, IsDescribedInOneLineWithARemedy) {
  EXPECT_EQ(describe_cupti_error(43),
            "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED (43): not possible on a MIG instance; profile "
            "with MIG off");
  EXPECT_EQ(describe_cupti_error(77), "CUPTI error 77: unknown to warpmeter; use a newer one");
  for (const CuptiError& error : cupti_errors())
    EXPECT_EQ(describe_cupti_error(error.code).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace warpmeter
