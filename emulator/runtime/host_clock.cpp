// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The C library's monotonic clock and sleep, in virtual time: a thread that uses the runtime times
// its own calls on the time base of the emulated device. Other threads, other clocks and the
// calendar stay real.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "emulator/runtime/call.h"

namespace emulator {
namespace {

constexpr double read_ns = 20;  // of one reading, so that loops that wait for a time end
constexpr std::int64_t ns_per_s = 1'000'000'000;

bool is_monotonic(clockid_t id) {
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE;
}

std::int64_t real_ns() {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * ns_per_s + now.tv_nsec;
}

std::int64_t virtual_ns() { return static_cast<std::int64_t>(clock_now(true)); }

int sleep_for(const timespec& time) {
  if (time.tv_nsec < 0 || time.tv_nsec >= ns_per_s || time.tv_sec < 0) return EINVAL;
  const Lock lock(engine().mutex);
  engine().spend_ns(static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec));
  return 0;
}

// The emulator's own readings are real.
bool is_virtual() { return host_thread.uses_runtime && !host_thread.in_call; }

}  // namespace

// Virtual time is on top of the real time when it was first asked for.
std::uint64_t clock_of(Time time) {
  static const std::int64_t begin_ns = real_ns();
  return static_cast<std::uint64_t>(begin_ns + time / 1000);
}

std::uint64_t clock_now(bool costs) {
  const Lock lock(engine().mutex);
  if (costs) engine().spend_ns(read_ns);
  return clock_of(engine().now());
}

}  // namespace emulator

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, timespec* time) noexcept {
  if (!emulator::is_monotonic(id) || !emulator::is_virtual()) {
    return static_cast<int>(::syscall(SYS_clock_gettime, id, time));
  }
  const std::int64_t now = emulator::virtual_ns();
  time->tv_sec = now / emulator::ns_per_s;
  time->tv_nsec = now % emulator::ns_per_s;
  return 0;
}

__attribute__((visibility("default"))) int nanosleep(const timespec* time, timespec* left) {
  if (!emulator::is_virtual()) {
    return static_cast<int>(::syscall(SYS_nanosleep, time, left));
  }
  errno = emulator::sleep_for(*time);
  return errno == 0 ? 0 : -1;
}
}
