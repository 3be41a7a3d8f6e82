// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/interrupt.h"

#include <csignal>

namespace warpmeter {
namespace {

volatile std::sig_atomic_t flag = 0;

void on_signal(int signal) {
  if (flag != 0) {  // the second one: the user means it
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  flag = 1;
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() { return flag != 0; }

}  // namespace warpmeter
