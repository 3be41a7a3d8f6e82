// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "collectors/clock.h"
#include "collectors/pm_sampling.h"
#include "core/error.h"
#include "tests/collectors/fake_pm.h"
#include "tests/collectors/kept_rows.h"

namespace warpmeter {

inline const char* cycles_name = "sm__cycles_elapsed.max";
inline const char* active_name = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
inline const char* read_name = "dram__bytes_read.sum";
inline const char* read_alias = "dram__bytes_op_read.sum";

// A collector on a CUPTI of planted answers.
class PmSampling : public testing::Test {
 protected:
  PmSampling() { fake_.weights = {{cycles_name, 0.2}, {active_name, 0.2}, {read_name, 0.2}}; }

  // Decoding by hand: the collector's own thread sleeps through the test.
  static PmOptions by_hand() {
    PmOptions options;
    options.decode_period_ms = 3600000;
    return options;
  }

  static std::string refusal(const std::function<void()>& run) {
    try {
      run();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  // Until `done`; a test that waits for ten seconds has failed.
  static bool eventually(const std::function<bool()>& done) {
    const std::int64_t until = monotonic_ns() + 10'000'000'000;
    while (!done()) {
      if (monotonic_ns() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  FakePm fake_;
  KeptRows sink_;
};

}  // namespace warpmeter
