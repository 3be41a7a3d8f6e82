// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <driver_types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "emulator/machine/device.h"

namespace emulator {

class Engine;

// A piece of work in a stream or graph. It becomes ready when all that it depends on has ended;
// then `start` runs and sees to it that Engine::end() is called.
struct Op : std::enable_shared_from_this<Op> {
  int device = 0;
  struct {  // ids of the call, stream, executable graph and node that it comes from
    std::uint32_t correlation = 0;
    std::uint32_t stream = 0;
    std::uint32_t graph = 0;
    std::uint64_t node = 0;
    bool async = false;
  } origin;
  Time enqueued = 0;  // not before
  Time gap = 0;       // from the end of the last dependency
  std::function<void(Op&, Time)> start;
  int open = 0;  // dependencies that have not ended
  Time ready = 0;
  bool done = false;
  bool failed = false;
  Time ended = 0;
  std::vector<std::shared_ptr<Op>> successors;
  // Of a kernel: ends when its blocks let dependent launches start, or with it.
  std::shared_ptr<Op> trigger;
};
using OpPtr = std::shared_ptr<Op>;

// Virtual time. Nothing runs when it is queued: work advances when the host waits or asks.
class Engine {
 public:
  Engine();

  std::mutex mutex;  // held in every entry point of the runtime

  std::vector<std::unique_ptr<Device>>& devices() { return devices_; }
  Time now() const { return now_; }
  void spend_ns(double ns);  // of the host

  void submit(const OpPtr& op, const std::vector<OpPtr>& dependencies);
  void end(Op& op, Time time);
  void at(Time time, std::function<void()> action);

  // Runs until `op` has ended; the host's time becomes at least its end. `lock` is given up now and
  // then, so that other threads can use the runtime meanwhile.
  void wait(const OpPtr& op, std::unique_lock<std::mutex>& lock);
  // Runs until the host's time.
  void catch_up();
  // Before this all that a device does is known: the host's time, or the begin of work that has
  // not ended.
  Time settled(int device) const;
  bool finished(const OpPtr& op) const { return op == nullptr || (op->done && op->ended <= now_); }

  // The error that ended work on a device; stays until reset.
  cudaError_t fault(int device) const { return faults_[static_cast<std::size_t>(device)]; }
  void clear_fault(int device) { faults_[static_cast<std::size_t>(device)] = cudaSuccess; }
  void fail(int device, cudaError_t code, const std::string& text);

 private:
  struct Event {
    Time time;
    std::uint64_t order;
    std::function<void()> action;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  bool step(Time limit);
  void start(const OpPtr& op);
  void forget_ended();

  Links links_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<cudaError_t> faults_;
  std::priority_queue<Event> events_;
  std::vector<OpPtr> started_;  // and perhaps ended
  std::uint64_t count_ = 0;
  Time now_ = 0;
};

Engine& engine();  // the process's

}  // namespace emulator
