// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "plan_support.h"

#include <fmt/format.h>

#include "core/error.h"

namespace warpmeter {

void WithCupti::SetUp() {
  try {
    cupti_ = &CuptiHost::open();
  } catch (const InputError& error) {
    GTEST_SKIP() << error.what();
  }
}

void WithCupti::needs_known_version() {
  if (cupti_->version() != known_cupti_version)
    GTEST_SKIP() << fmt::format("{} is version {}; the expected answers are of {}", cupti_->path(),
                                cupti_->version(), known_cupti_version);
}

}  // namespace warpmeter
