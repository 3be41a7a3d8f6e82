// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cupti.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace emulator {

// Bytes of a record of a kind that this library makes; 0: it makes none.
std::size_t record_bytes(CUpti_ActivityKind kind);

// The client's activity buffers. Records are staged when work ends, under the locks of whoever ends
// it; they move to buffers where the client's callbacks may run: at the end of calls, in flushes.
class Buffers {
 public:
  void set_callbacks(CUpti_BuffersCallbackRequestFunc on_request,
                     CUpti_BuffersCallbackCompleteFunc on_complete);
  bool has_callbacks();

  template <typename Record>
  void stage(const Record& record) {
    stage_bytes(&record, sizeof record);
  }
  // Moves what is staged to buffers. `wait`: also if another thread is doing that now.
  void drain(bool wait);
  // Delivers all buffers, full or not.
  void flush();
  void set_period_ms(std::uint32_t period);
  std::size_t take_dropped();

 private:
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t records = 0;
    std::size_t most_records = 0;  // 0: no limit
  };
  void stage_bytes(const void* record, std::size_t bytes);
  void put(const std::byte* record, std::size_t bytes);
  void request();
  void finish();
  void deliver();
  void start_worker();
  void work();

  std::mutex stage_mutex_;  // of all but current_
  std::vector<std::byte> staged_;
  std::uint64_t staged_count_ = 0;
  std::size_t dropped_ = 0;
  std::deque<Buffer> full_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::uint32_t period_ms_ = 0;
  bool has_worker_ = false;
  std::condition_variable wake_;

  std::mutex drain_mutex_;  // of current_; held in the request callback
  Buffer current_;
  std::mutex deliver_mutex_;  // held in the completion callback
};

Buffers& buffers();

}  // namespace emulator
