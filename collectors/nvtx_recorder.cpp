// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "collectors/clock.h"
#include "collectors/nvtx_thread.h"

namespace warpmeter {
namespace {

constexpr std::size_t max_started = std::size_t{1} << 16;  // ranges started and not ended
constexpr std::uint64_t tokens_at_once = 4096;
constexpr int too_deep = -2;  // NVTX_NO_PUSH_POP_TRACKING

}  // namespace

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
  if (t.depth == nvtx_max_depth) {
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
  Thread& t = thread();
  const std::lock_guard lock(t.stream.mutex);
  const bool armed = armed_.load(std::memory_order_relaxed);
  if (t.depth == nvtx_max_depth && t.uncounted != 0) {
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
    t.stream.append_end(
        nvtx_end_record(NvtxRecordType::end, found->token, monotonic_ns(), found->asked));
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
    shared_->append_end(nvtx_end_record(NvtxRecordType::end, token, now, false));
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
  auto* t = Thread::here;
  if (t == nullptr || t->depth == 0) return 0;
  Open& open = t->open[t->depth - 1];
  open.asked = true;
  return open.token;
}

std::uint64_t nvtx_current_range() noexcept { return NvtxRecorder::instance().current(); }

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

}  // namespace warpmeter
