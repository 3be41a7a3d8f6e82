// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/register_pool.h"

#include "emulator/machine/block.h"

namespace emulator {

bool RegisterPool::grant(Warp& warp, std::uint32_t count) {
  const std::uint32_t more = count - warp.thread_registers;
  if (more > free_) return false;
  free_ -= more;
  warp.thread_registers = count;
  return true;
}

bool RegisterPool::release(Warp& warp, std::uint32_t count) {
  if (count > warp.thread_registers) return false;
  free_ += warp.thread_registers - count;
  warp.thread_registers = count;
  while (!waiters_.empty() && grant(*waiters_.front().warp, waiters_.front().count)) {
    Warp& next = *waiters_.front().warp;
    waiters_.pop_front();
    next.release_barrier(barrier_number);
    next.block().note_woken(next);
  }
  return true;
}

bool RegisterPool::take(Warp& warp, std::uint32_t count, std::uint32_t mask) {
  if (count < warp.thread_registers) return false;
  if (waiters_.empty() && grant(warp, count)) return true;
  waiters_.push_back({&warp, count});
  warp.wait_at_barrier(mask, barrier_number);
  return true;
}

}  // namespace emulator
