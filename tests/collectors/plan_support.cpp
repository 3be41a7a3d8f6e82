// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "plan_support.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

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

void for_each_chip(const std::vector<std::string>& chips,
                   const std::function<void(const std::string& chip)>& check) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < chips.size(); i = next++) check(chips[i]);
  };
  std::vector<std::thread> threads;
  for (unsigned int i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace warpmeter
