// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Threads that come and go, fork, and the writer's and the control thread's side of NvtxRecorder.
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "collectors/nvtx_thread.h"

namespace warpmeter {
namespace {

thread_local std::size_t pushed_before_fork = 0;
pthread_key_t thread_key;
bool have_thread_key = false;  // else threads never end, for all that is known here

}  // namespace

thread_local NvtxRecorder::Thread* NvtxRecorder::Thread::here = nullptr;

NvtxRecorder& NvtxRecorder::instance() {
  static NvtxRecorder& one = *new NvtxRecorder;
  return one;
}

NvtxRecorder::NvtxRecorder() {
  have_thread_key = ::pthread_key_create(&thread_key, end_thread) == 0;
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// A child of fork() has none of the parent's other threads, so what they hold is locked for ever:
// the registries are locked over the fork, and all that belongs to a thread is left behind.
void NvtxRecorder::before_fork() {
  NvtxRecorder& r = instance();
  r.hook_mutex_.lock();
  r.names.lock();
  r.threads_mutex_.lock();
  r.shared_->mutex.lock();
}

void NvtxRecorder::after_fork_in_parent() {
  NvtxRecorder& r = instance();
  r.shared_->mutex.unlock();
  r.unlock();
}

void NvtxRecorder::after_fork_in_child() {
  NvtxRecorder& r = instance();
  r.armed_ = r.hooked_ = false;
  r.hook_ = nullptr;
  if (const Thread* thread = Thread::here) pushed_before_fork = thread->depth + thread->uncounted;
  Thread::here = nullptr;
  if (have_thread_key) ::pthread_setspecific(thread_key, nullptr);
  (void)new std::vector<std::shared_ptr<Thread>>(std::move(r.threads_));
  r.threads_.clear();
  (void)r.shared_.release();
  r.used_ = 0;
  r.shared_ = std::make_unique<NvtxStream>(r.used_, r.limit_);
  r.started_.clear();
  r.unlock();
}

void NvtxRecorder::unlock() {
  threads_mutex_.unlock();
  names.unlock();
  hook_mutex_.unlock();
}

NvtxRecorder::Thread& NvtxRecorder::thread() {
  if (Thread::here) return *Thread::here;
  auto thread = std::make_shared<Thread>(*this);
  thread->uncounted = std::exchange(pushed_before_fork, 0);
  {
    const std::lock_guard lock(threads_mutex_);
    threads_.push_back(thread);
  }
  Thread::here = thread.get();
  if (have_thread_key) ::pthread_setspecific(thread_key, Thread::here);  // calls end_thread
  return *thread;
}

// Of pthread, not of C++: comes after the destructors of thread_local objects, which may end
// ranges, and comes again if later ones make a new Thread.
void NvtxRecorder::end_thread(void* ended) noexcept {
  NvtxRecorder& r = instance();
  Thread& thread = *static_cast<Thread*>(ended);
  Thread::here = nullptr;
  try {
    const std::lock_guard lock(thread.stream.mutex);
    if (r.armed_) thread.catch_up();
    for (std::size_t i = 0; i < thread.depth; ++i) {
      const Open& open = thread.open[i];
      if (i < thread.recorded)
        thread.stream.append_end(
            nvtx_end_record(NvtxRecordType::forget, open.token, 0, open.asked));
      else if (r.armed_)
        thread.stream.losses.lose_range(open.start_ns);
    }
  } catch (...) {
    r.failed();
  }
  thread.ended = true;
  r.forget_idle(thread);
}

// Where nobody takes, threads that come and go leave nothing behind.
void NvtxRecorder::forget_idle(Thread& thread) noexcept {
  {
    const std::lock_guard lock(thread.stream.mutex);
    if (!thread.stream.idle()) return;
  }
  const std::lock_guard lock(threads_mutex_);
  std::erase_if(threads_, [&](const auto& one) { return one.get() == &thread; });
}

void NvtxRecorder::arm(std::size_t limit) {
  limit_ = limit;
  armed_ = true;
  std::vector<std::shared_ptr<Thread>> threads;
  {
    const std::lock_guard lock(threads_mutex_);
    threads = threads_;
  }
  for (const auto& thread : threads) {
    const std::lock_guard lock(thread->stream.mutex);
    thread->catch_up();
  }
  const std::lock_guard lock(shared_->mutex);
  for (auto& [token, open] : started_) open.recorded = open.recorded || shared_->append(open.begin);
}

NvtxLosses NvtxRecorder::take(const std::function<void(std::span<const std::byte>)>& use) {
  NvtxLosses losses;
  losses.failed = failures_.exchange(0);
  // Taken first and used last: the pushed range that is a started one's parent is in its thread's
  // stream by now.
  const std::span<const std::byte> started = shared_->take(losses);
  std::vector<std::shared_ptr<Thread>> threads;
  {
    const std::lock_guard lock(threads_mutex_);
    threads = threads_;
  }
  std::vector<const Thread*> gone;
  for (const auto& thread : threads) {
    if (thread->ended) gone.push_back(thread.get());  // before take(): nothing comes after it
    use(thread->stream.take(losses));
  }
  use(started);
  const std::lock_guard lock(threads_mutex_);
  std::erase_if(threads_, [&](const auto& thread) {
    return std::find(gone.begin(), gone.end(), thread.get()) != gone.end();
  });
  return losses;
}

}  // namespace warpmeter
