// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/driver/cupti_buffers.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "emulator/driver/cupti_state.h"

namespace emulator {
namespace {

// The client is being called on this thread: what it calls must not come back to it.
thread_local bool in_client = false;

// Real time, also on threads whose sleeps are virtual.
void sleep_us(std::uint64_t us) {
  const timespec time{static_cast<time_t>(us / 1'000'000),
                      static_cast<long>(us % 1'000'000 * 1000)};
  ::syscall(SYS_nanosleep, &time, nullptr);
}

}  // namespace

Buffers& buffers() {
  static auto* const instance = new Buffers();  // the worker outlives static objects
  return *instance;
}

std::size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    default:
      return 0;
  }
}

void Buffers::set_callbacks(CUpti_BuffersCallbackRequestFunc on_request,
                            CUpti_BuffersCallbackCompleteFunc on_complete) {
  const std::lock_guard lock(stage_mutex_);
  request_ = on_request;
  complete_ = on_complete;
  start_worker();
}

bool Buffers::has_callbacks() {
  const std::lock_guard lock(stage_mutex_);
  return request_ != nullptr;
}

void Buffers::stage_bytes(const void* record, std::size_t bytes) {
  static const std::uint64_t drop_every = faults().number("drop");
  static const std::uint64_t cost_us = faults().number("record");
  if (cost_us != 0) sleep_us(cost_us);
  const std::lock_guard lock(stage_mutex_);
  if (drop_every != 0 && ++staged_count_ % drop_every == 0) {
    ++dropped_;
    return;
  }
  const auto* const from = static_cast<const std::byte*>(record);
  staged_.insert(staged_.end(), from, from + bytes);
}

void Buffers::drain(bool wait) {
  if (in_client) return;
  std::unique_lock draining(drain_mutex_, std::defer_lock);
  if (wait) {
    draining.lock();
  } else if (!draining.try_lock()) {
    return;
  }
  std::vector<std::byte> records;
  {
    const std::lock_guard lock(stage_mutex_);
    if (request_ == nullptr) return;
    records.swap(staged_);
  }
  for (std::size_t at = 0; at < records.size();) {
    CUpti_ActivityKind kind;
    std::memcpy(&kind, &records[at], sizeof kind);
    put(&records[at], record_bytes(kind));
    at += record_bytes(kind);
  }
}

void Buffers::put(const std::byte* record, std::size_t bytes) {
  const bool full = current_.used + bytes > current_.size ||
                    (current_.most_records != 0 && current_.records >= current_.most_records);
  if (full) finish();
  if (current_.data == nullptr) request();
  if (current_.data == nullptr || current_.size < bytes) {
    const std::lock_guard lock(stage_mutex_);
    ++dropped_;
    return;
  }
  std::memcpy(current_.data + current_.used, record, bytes);
  current_.used += bytes;
  ++current_.records;
}

void Buffers::request() {
  current_ = {};
  CUpti_BuffersCallbackRequestFunc ask = nullptr;
  {
    const std::lock_guard lock(stage_mutex_);
    ask = request_;
  }
  in_client = true;
  ask(&current_.data, &current_.size, &current_.most_records);
  in_client = false;
}

void Buffers::finish() {
  if (current_.data == nullptr) return;
  {
    const std::lock_guard lock(stage_mutex_);
    full_.push_back(current_);
  }
  current_ = {};
  wake_.notify_one();
}

void Buffers::deliver() {
  static const std::uint64_t delay_ms = faults().number("flush");
  const std::lock_guard delivering(deliver_mutex_);
  for (;;) {
    Buffer buffer;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    {
      const std::lock_guard lock(stage_mutex_);
      if (full_.empty()) return;
      buffer = full_.front();
      full_.pop_front();
      complete = complete_;
    }
    if (delay_ms != 0) sleep_us(1000 * delay_ms);
    in_client = true;
    complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
    in_client = false;
  }
}

void Buffers::flush() {
  if (in_client) return;
  drain(true);
  {
    const std::lock_guard lock(drain_mutex_);
    finish();
  }
  deliver();
}

void Buffers::set_period_ms(std::uint32_t period) {
  {
    const std::lock_guard lock(stage_mutex_);
    period_ms_ = period;
    start_worker();
  }
  wake_.notify_one();
}

std::size_t Buffers::take_dropped() {
  const std::lock_guard lock(stage_mutex_);
  return std::exchange(dropped_, 0);
}

void Buffers::start_worker() {
  if (std::exchange(has_worker_, true)) return;
  std::thread([this] { work(); }).detach();
}

// Delivers full buffers when there are some; with a period, only then.
void Buffers::work() {
  for (;;) {
    {
      std::unique_lock lock(stage_mutex_);
      if (period_ms_ != 0) {
        wake_.wait_for(lock, std::chrono::milliseconds(period_ms_));
      } else {
        wake_.wait(lock, [this] { return !full_.empty() || period_ms_ != 0; });
      }
      if (complete_ == nullptr) continue;
    }
    drain(false);
    deliver();
  }
}

}  // namespace emulator
