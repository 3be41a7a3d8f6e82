// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace warpmeter {
namespace {

constexpr double plain_line_every_s = 5;

std::string duration(double seconds) {
  const int whole = static_cast<int>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole)
                    : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string_view job, int total)
    : job_(job),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_(begin_) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::step(std::string_view what, int done) {
  const auto now = std::chrono::steady_clock::now();
  const double since_last = std::chrono::duration<double>(now - last_).count();
  if (since_last < (terminal_ ? 0.1 : plain_line_every_s) && done < total_) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - begin_).count();
  std::string left;
  if (done > 0 && done < total_)
    left = ", about " + duration(spent / done * (total_ - done)) + " left";
  const std::string line = fmt::format("{}: {}/{}{}  {}", job_, done, total_, left, what);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{:.110}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace warpmeter
