// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include "emulator/machine/fault.h"

namespace emulator {

Engine& engine() {
  static Engine* instance = new Engine();  // programs call the runtime from static destructors
  return *instance;
}

Engine::Engine() : links_(the_chip()) {
  const Chip& chip = the_chip();
  for (int i = 0; i < chip.devices; ++i) {
    devices_.push_back(std::make_unique<Device>(chip, i, links_));
    faults_.push_back(cudaSuccess);
  }
}

void Engine::spend_ns(double ns) {
  now_ += std::llround(ns * 1e3);
  for (const auto& device : devices_) device->set_host_time(now_);
}

void Engine::at(Time time, std::function<void()> action) {
  events_.push({time, count_++, std::move(action)});
}

void Engine::submit(const OpPtr& op, const std::vector<OpPtr>& dependencies) {
  op->ready = op->enqueued;
  for (const OpPtr& dependency : dependencies) {
    if (dependency == nullptr) continue;
    if (dependency->done) {
      op->ready = std::max(op->ready, dependency->ended + op->gap);
    } else {
      ++op->open;
      dependency->successors.push_back(op);
    }
  }
  if (op->open == 0) start(op);
}

void Engine::start(const OpPtr& op) {
  if (fault(op->device) != cudaSuccess) op->failed = true;
  started_.push_back(op);
  at(op->ready, [this, op] {
    if (op->done) return;
    if (op->failed || fault(op->device) != cudaSuccess) {
      op->failed = true;
      end(*op, op->ready);
    } else {
      op->start(*op, op->ready);
    }
  });
}

void Engine::end(Op& op, Time time) {
  op.done = true;
  op.ended = time;
  op.start = nullptr;
  if (op.trigger != nullptr && !op.trigger->done) end(*op.trigger, time);
  const std::vector<OpPtr> successors = std::move(op.successors);
  op.successors.clear();
  for (const OpPtr& next : successors) {
    next->ready = std::max(next->ready, time + next->gap);
    if (--next->open == 0) start(next);
  }
}

bool Engine::step(Time limit) {
  Time next_event = events_.empty() ? no_time : events_.top().time;
  Device* first = nullptr;
  Time first_time = no_time;
  Time second_time = no_time;
  for (const auto& device : devices_) {
    const Time time = device->next_time();
    if (time < first_time) {
      second_time = first_time;
      first_time = time;
      first = device.get();
    } else {
      second_time = std::min(second_time, time);
    }
  }
  if (std::min(next_event, first_time) == no_time) return false;
  if (std::min(next_event, first_time) > limit) return false;
  if (next_event <= first_time) {
    const Event event = events_.top();
    events_.pop();
    event.action();
    return true;
  }
  try {
    first->advance(std::min({next_event, second_time, limit}), 4096);
  } catch (const Fault& error) {
    fail(first->ordinal(), error.code, error.what());
  }
  return true;
}

void Engine::fail(int device, cudaError_t code, const std::string& text) {
  std::fprintf(stderr, "warpmeter emulated GPU %d: %s\n", device, text.c_str());
  faults_[static_cast<std::size_t>(device)] = code;
  devices_[static_cast<std::size_t>(device)]->abort();
  const std::vector<OpPtr> started = std::move(started_);
  started_.clear();
  for (const OpPtr& op : started) {
    if (op->done) continue;
    if (op->device != device) {
      started_.push_back(op);
      continue;
    }
    op->failed = true;
    end(*op, std::max(op->ready, now_));
  }
}

void Engine::wait(const OpPtr& op, std::unique_lock<std::mutex>& lock) {
  if (op == nullptr) return;
  while (!op->done) {
    if (!step(no_time)) {
      if (op->done) break;
      fail(op->device, cudaErrorLaunchTimeout, "work waits for something that does not come");
      break;
    }
    lock.unlock();
    lock.lock();
  }
  forget_ended();
  now_ = std::max(now_, op->ended);
  spend_ns(0);
}

void Engine::catch_up() {
  while (step(now_)) {
  }
  forget_ended();
}

Time Engine::settled(int device) const {
  Time time = now_;
  for (const OpPtr& op : started_) {
    if (op->device == device && !op->done) time = std::min(time, op->ready);
  }
  return time;
}

void Engine::forget_ended() {
  std::erase_if(started_, [](const OpPtr& op) { return op->done; });
}

}  // namespace emulator
