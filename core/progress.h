// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace warpmeter {

// What a long job is doing, on standard error: one line that is rewritten on a terminal, a plain
// line every few seconds elsewhere.
class Progress {
 public:
  Progress(std::string_view job, int total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view what, int done);

 private:
  std::string job_;
  int total_;
  bool terminal_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace warpmeter
