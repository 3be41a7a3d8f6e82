// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collectors/clock.h"

namespace warpmeter {
namespace {

constexpr std::size_t max_depth = 1024;                    // ranges that a thread has pushed
constexpr std::size_t max_started = std::size_t{1} << 16;  // ranges started and not ended
constexpr std::uint64_t tokens_at_once = 4096;
constexpr int too_deep = -2;  // NVTX_NO_PUSH_POP_TRACKING

NvtxEnd end_record(NvtxRecordType type, std::uint64_t token, std::int64_t end_ns, bool asked) {
  return {{sizeof(NvtxEnd), type, token}, end_ns, asked ? std::uint64_t{1} : 0};
}

}  // namespace

struct NvtxRecorder::Open {
  std::uint64_t token = 0;
  std::int64_t start_ns = 0;
  std::uint32_t domain = 0;
  int level = 0;
  bool asked = false;            // touched by the owner only
  bool recorded = false;         // of a started range; of a pushed one: Thread::recorded
  std::vector<std::byte> begin;  // NvtxBegin and what follows; keeps its memory for the next range
};

// Touched by its owner under the stream's mutex; arm() reads it under that.
struct NvtxRecorder::Thread {
  explicit Thread(NvtxRecorder& recorder) : stream(recorder.used_, recorder.limit_) {}

  NvtxStream stream;
  std::int32_t id = ::gettid();
  std::vector<Open> open;  // the first `depth` are open, the others spare
  std::size_t depth = 0;
  std::size_t recorded = 0;   // the first ones, which are in the stream
  std::size_t uncounted = 0;  // pushes that are not in `open`: too deep, or before a fork
  std::uint64_t next_token = 0, last_token = 0;
  Open mark;
  std::atomic<bool> ended = false;

  const Open* innermost(std::uint32_t domain) const {
    for (std::size_t i = depth; i-- > 0;)
      if (open[i].domain == domain) return &open[i];
    return nullptr;
  }

  // Puts those into the stream that were not armed or had no room. A parent comes before its
  // children, so it ends at the first that has no room.
  void catch_up() {
    while (recorded < depth && stream.append(open[recorded].begin)) ++recorded;
  }
};

namespace {

thread_local void* this_thread = nullptr;  // NvtxRecorder::Thread
thread_local std::size_t pushed_before_fork = 0;
pthread_key_t thread_key;
bool have_thread_key = false;  // else threads never end, for all that is known here

}  // namespace

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
  if (const auto* thread = static_cast<const Thread*>(this_thread))
    pushed_before_fork = thread->depth + thread->uncounted;
  this_thread = nullptr;
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
  if (this_thread) return *static_cast<Thread*>(this_thread);
  auto thread = std::make_shared<Thread>(*this);
  thread->uncounted = std::exchange(pushed_before_fork, 0);
  {
    const std::lock_guard lock(threads_mutex_);
    threads_.push_back(thread);
  }
  this_thread = thread.get();
  if (have_thread_key) ::pthread_setspecific(thread_key, this_thread);  // calls end_thread
  return *thread;
}

// Of pthread, not of C++: comes after the destructors of thread_local objects, which may end
// ranges, and comes again if later ones make a new Thread.
void NvtxRecorder::end_thread(void* ended) noexcept {
  NvtxRecorder& r = instance();
  Thread& thread = *static_cast<Thread*>(ended);
  this_thread = nullptr;
  try {
    const std::lock_guard lock(thread.stream.mutex);
    if (r.armed_) thread.catch_up();
    for (std::size_t i = 0; i < thread.depth; ++i) {
      const Open& open = thread.open[i];
      if (i < thread.recorded)
        thread.stream.append_end(end_record(NvtxRecordType::forget, open.token, 0, open.asked));
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

std::uint64_t NvtxRecorder::new_token(Thread& thread) {
  if (thread.next_token == thread.last_token) {
    thread.next_token = next_tokens_.fetch_add(tokens_at_once, std::memory_order_relaxed);
    thread.last_token = thread.next_token + tokens_at_once;
  }
  return thread.next_token++;
}

void NvtxRecorder::begin(Open& open, const NvtxEvent& event, NvtxKind kind, Thread& thread,
                         std::int64_t now) {
  const Open* parent = thread.innermost(event.domain);
  open.token = new_token(thread);
  open.start_ns = now;
  open.domain = event.domain;
  open.level = parent ? parent->level + 1 : 0;
  open.asked = open.recorded = false;
  NvtxBegin record;
  const std::size_t bytes = sizeof(record) + event.message.size() + event.payload.size();
  record.head = {static_cast<std::uint32_t>(bytes), NvtxRecordType::begin, open.token};
  record.parent = parent ? parent->token : 0;
  record.start_ns = now;
  record.bits = event.bits;
  record.thread = thread.id;
  record.domain = event.domain;
  record.category = event.category;
  record.registered = event.registered;
  record.message = static_cast<std::uint32_t>(event.message.size());
  record.payload = static_cast<std::uint32_t>(event.payload.size());
  record.kind = kind;
  record.form = event.form;
  open.begin.resize(bytes);
  std::byte* at = open.begin.data();
  std::memcpy(at, &record, sizeof(record));
  at += sizeof(record);
  if (!event.message.empty()) std::memcpy(at, event.message.data(), event.message.size());
  at += event.message.size();
  if (!event.payload.empty()) std::memcpy(at, event.payload.data(), event.payload.size());
}

int NvtxRecorder::push(const NvtxEvent& event) {
  if (hooked_.load(std::memory_order_relaxed)) call_hook(event);
  Thread& t = thread();
  const std::lock_guard lock(t.stream.mutex);
  const bool armed = armed_.load(std::memory_order_relaxed);
  const std::int64_t now = monotonic_ns();
  if (t.depth == max_depth) {
    ++t.uncounted;
    if (armed) t.stream.losses.lose_range(now);
    return too_deep;
  }
  if (t.depth == t.open.size()) t.open.emplace_back();
  Open& open = t.open[t.depth];
  begin(open, event, NvtxKind::push_pop, t, now);
  ++t.depth;
  if (armed) {
    t.catch_up();
    if (event.cut) ++t.stream.losses.cut;
  }
  return open.level;
}

int NvtxRecorder::pop(std::uint32_t domain) {
  const std::int64_t now = monotonic_ns();
  Thread& t = thread();
  const std::lock_guard lock(t.stream.mutex);
  const bool armed = armed_.load(std::memory_order_relaxed);
  if (t.depth == max_depth && t.uncounted != 0) {
    --t.uncounted;
    return too_deep;
  }
  const Open* found = t.innermost(domain);
  if (!found) {
    if (t.uncounted != 0)
      --t.uncounted;
    else if (armed)
      ++t.stream.losses.pops;
    return -1;
  }
  const int level = found->level;
  const auto at = static_cast<std::size_t>(found - t.open.data());
  if (armed) t.catch_up();
  if (at < t.recorded) {
    t.stream.append_end(end_record(NvtxRecordType::end, found->token, now, found->asked));
    --t.recorded;
  } else if (armed) {
    t.stream.losses.lose_range(found->start_ns);
  }
  const auto first = t.open.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(first, first + 1, t.open.begin() + static_cast<std::ptrdiff_t>(t.depth));
  --t.depth;
  return level;
}

std::uint64_t NvtxRecorder::start(const NvtxEvent& event) {
  if (hooked_.load(std::memory_order_relaxed)) call_hook(event);
  Thread& t = thread();
  Open open;
  begin(open, event, NvtxKind::start_end, t, monotonic_ns());
  const std::uint64_t token = open.token;
  const std::lock_guard lock(shared_->mutex);
  const bool armed = armed_.load(std::memory_order_relaxed);
  if (armed && event.cut) ++shared_->losses.cut;
  if (started_.size() == max_started) {
    if (armed) shared_->losses.lose_range(open.start_ns);
    return 0;  // to NVTX: not a range
  }
  open.recorded = armed && shared_->append(open.begin);
  started_.emplace(token, std::move(open));
  return token;
}

void NvtxRecorder::end(std::uint64_t token) {
  const std::int64_t now = monotonic_ns();
  if (token == 0) return;
  const std::lock_guard lock(shared_->mutex);
  const bool armed = armed_.load(std::memory_order_relaxed);
  const auto found = started_.find(token);
  if (found == started_.end()) {
    if (armed) ++shared_->losses.ends;
    return;
  }
  const Open& open = found->second;
  if (open.recorded || (armed && shared_->append(open.begin)))
    shared_->append_end(end_record(NvtxRecordType::end, token, now, false));
  else if (armed)
    shared_->losses.lose_range(open.start_ns);
  started_.erase(found);
}

void NvtxRecorder::mark(const NvtxEvent& event) {
  if (hooked_.load(std::memory_order_relaxed)) call_hook(event);
  if (!armed_.load(std::memory_order_relaxed)) return;
  Thread& t = thread();
  const std::lock_guard lock(t.stream.mutex);
  begin(t.mark, event, NvtxKind::mark, t, monotonic_ns());
  t.catch_up();
  if (t.recorded < t.depth || !t.stream.append(t.mark.begin))
    t.stream.losses.lose_range(t.mark.start_ns);
  if (event.cut) ++t.stream.losses.cut;
}

void NvtxRecorder::failed() noexcept { failures_.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t NvtxRecorder::current() noexcept {
  auto* t = static_cast<Thread*>(this_thread);
  if (t == nullptr || t->depth == 0) return 0;
  Open& open = t->open[t->depth - 1];
  open.asked = true;
  return open.token;
}

std::uint64_t nvtx_current_range() noexcept { return NvtxRecorder::instance().current(); }

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

void NvtxRecorder::on_range(std::string name, std::function<void()> hook) {
  const std::lock_guard lock(hook_mutex_);
  hook_name_ = std::move(name);
  hook_ = std::move(hook);
  hooked_ = static_cast<bool>(hook_);
}

void NvtxRecorder::call_hook(const NvtxEvent& event) {
  std::function<void()> hook;
  {
    const std::lock_guard lock(hook_mutex_);
    const std::string_view message =
        event.registered == 0 ? event.message : names.registered(event.registered);
    if (!hook_ || message != hook_name_) return;
    hook = std::exchange(hook_, nullptr);
    hooked_ = false;
  }
  hook();
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
