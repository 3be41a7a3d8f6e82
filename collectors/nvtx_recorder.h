// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectors/nvtx_names.h"
#include "collectors/nvtx_stream.h"

namespace warpmeter {

// Takes the events of all threads of the process, from its first NVTX call on. One a process
// (NvtxRecorder::instance), because NVTX's callbacks have no argument for another; never destroyed,
// because ranges may end while the process does.
//
// While it is disarmed nothing is put into the streams, but ranges are known from their begin on:
// arm() puts all that are open into the streams.
class NvtxRecorder {
 public:
  static NvtxRecorder& instance();

  NvtxNames names;

  // The calls of the program, in any thread. Levels are those that NVTX returns: how many ranges of
  // the domain were open in the thread before; -1: none was. May throw std::bad_alloc.
  int push(const NvtxEvent& event);
  int pop(std::uint32_t domain);
  std::uint64_t start(const NvtxEvent& event);  // a token, for end()
  void end(std::uint64_t token);
  void mark(const NvtxEvent& event);
  void failed() noexcept;  // one of them threw

  // Token of the innermost range that this thread has pushed in any domain and not popped; 0: none.
  std::uint64_t current() noexcept;

  // One control thread. At most `limit` bytes are kept for the writer.
  void arm(std::size_t limit);
  void disarm() noexcept { armed_ = false; }

  // `hook` is called once, in the program's thread, just before the next range or mark with this
  // message
  // begins. Another call replaces it; an empty one takes it away.
  void on_range(std::string name, std::function<void()> hook);

  // The writer's: calls `use` with the records of each stream, parents before what they are the
  // parents of. One thread.
  NvtxLosses take(const std::function<void(std::span<const std::byte>)>& use);

 private:
  struct Thread;
  struct Open;

  NvtxRecorder();
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  static void end_thread(void* thread) noexcept;
  void unlock();
  void forget_idle(Thread& thread) noexcept;
  Thread& thread();
  std::uint64_t new_token(Thread& thread);
  void call_hook(const NvtxEvent& event);
  void begin(Open& open, const NvtxEvent& event, NvtxKind kind, Thread& thread, std::int64_t now);

  std::atomic<bool> armed_ = false, hooked_ = false;
  std::atomic<std::size_t> used_ = 0, limit_ = 0;
  std::atomic<std::uint64_t> next_tokens_ = 1, failures_ = 0;

  std::mutex hook_mutex_;
  std::string hook_name_;
  std::function<void()> hook_;

  std::mutex threads_mutex_;
  std::vector<std::shared_ptr<Thread>> threads_;

  std::unique_ptr<NvtxStream> shared_ = std::make_unique<NvtxStream>(used_, limit_);
  std::unordered_map<std::uint64_t, Open> started_;  // guarded by shared_->mutex
};

// The token of NvtxRecorder::current: never reused in a process. Cheap; from a callback of CUPTI,
// for instance.
std::uint64_t nvtx_current_range() noexcept;

}  // namespace warpmeter
