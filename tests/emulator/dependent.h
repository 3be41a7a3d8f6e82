// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// A kernel of four blocks that works for 20 us, and one that depends on it. Times are those of
// %globaltimer.
struct DependentTimes {
  std::uint64_t first_end;
  std::uint64_t second_begin;
  std::uint64_t second_behind_wait;
  std::uint32_t seen_before_wait;  // of what the first writes at its end
  std::uint32_t seen;
};
enum class Trigger { never, early, one_block_late };
void run_dependents(Trigger trigger, bool programmatic, std::uint32_t* data, DependentTimes* times);

// One warpgroup gives up registers after 5 us, two ask for `asked`: clocks of both.
void run_register_pool(int asked, std::uint64_t* given, std::uint64_t* taken);
