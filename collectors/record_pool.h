// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warpmeter {

// Records that were dropped because every buffer was full, and the times that they span.
struct DroppedRecords {
  std::uint64_t count = 0;
  std::uint64_t from_ns = 0, to_ns = 0;  // of `start_ns`; meaningless if count is 0
};

// A fixed number of buffers, allocated at the start, between threads that make records and one that
// writes them: memory is bounded at any rate. A producer never waits for the writer: when no buffer
// is free, it drops its record and counts it. `Record` has a member `start_ns`.
template <typename Record>
class RecordPool {
  struct Buffer {
    explicit Buffer(std::size_t capacity) : records(capacity) {}
    std::vector<Record> records;
    std::size_t used = 0;
  };

 public:
  // `buffers` of `capacity` records each; both at least 1.
  RecordPool(std::size_t buffers, std::size_t capacity) {
    for (std::size_t i = 0; i < std::max<std::size_t>(buffers, 1); ++i)
      free_.push_back(std::make_unique<Buffer>(std::max<std::size_t>(capacity, 1)));
  }

  // One thread's way in. Holds at most one buffer; its destructor hands that over. Ends before the
  // pool does.
  class Producer {
   public:
    explicit Producer(RecordPool& pool) : pool_(pool) {}
    ~Producer() { flush(); }
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    // False if the record was dropped.
    bool append(const Record& record) {
      if (!buffer_ && !(buffer_ = pool_.acquire(record))) return false;
      buffer_->records[buffer_->used++] = record;
      if (buffer_->used == buffer_->records.size()) flush();
      return true;
    }

    // Hands over what there is, full or not.
    void flush() {
      if (buffer_) pool_.submit(std::move(buffer_));
    }

   private:
    RecordPool& pool_;
    std::unique_ptr<Buffer> buffer_;
  };

  // The writer's side: waits until there is a buffer, for at most `patience`, and calls `use` with
  // its records outside the lock. False if none came, or if the pool is closed and empty. A buffer
  // is free again even if `use` throws.
  template <typename Use>
  bool drain_one(Use&& use, std::chrono::milliseconds patience) {
    std::unique_ptr<Buffer> buffer = take(patience);
    if (!buffer) return false;
    const Return returned{*this, buffer};
    use(std::span<const Record>(buffer->records.data(), buffer->used));
    return true;
  }

  // No record is taken any more: what comes later is dropped and counted. Wakes the writer.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    filled_or_closed_.notify_all();
  }

  bool finished() const {
    const std::lock_guard lock(mutex_);
    return closed_ && full_.empty();
  }

  // What was dropped since the last call.
  DroppedRecords take_dropped() {
    const std::lock_guard lock(mutex_);
    return std::exchange(dropped_, DroppedRecords{});
  }

 private:
  struct Return {
    RecordPool& pool;
    std::unique_ptr<Buffer>& buffer;
    ~Return() {
      buffer->used = 0;
      const std::lock_guard lock(pool.mutex_);
      pool.free_.push_back(std::move(buffer));
    }
  };

  std::unique_ptr<Buffer> acquire(const Record& record) {
    const std::lock_guard lock(mutex_);
    if (closed_ || free_.empty()) {
      drop(record.start_ns);
      return nullptr;
    }
    std::unique_ptr<Buffer> buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }

  void submit(std::unique_ptr<Buffer> buffer) {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(buffer));  // even after close(): these records were taken before
    filled_or_closed_.notify_one();
  }

  std::unique_ptr<Buffer> take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    filled_or_closed_.wait_for(lock, patience, [this] { return closed_ || !full_.empty(); });
    if (full_.empty()) return nullptr;
    std::unique_ptr<Buffer> buffer = std::move(full_.front());
    full_.pop_front();
    return buffer;
  }

  void drop(std::uint64_t start_ns) {
    dropped_.from_ns = dropped_.count == 0 ? start_ns : std::min(dropped_.from_ns, start_ns);
    dropped_.to_ns = dropped_.count == 0 ? start_ns : std::max(dropped_.to_ns, start_ns);
    ++dropped_.count;
  }

  mutable std::mutex mutex_;
  std::condition_variable filled_or_closed_;
  std::vector<std::unique_ptr<Buffer>> free_;
  std::deque<std::unique_ptr<Buffer>> full_;
  DroppedRecords dropped_;
  bool closed_ = false;
};

}  // namespace warpmeter
