// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "microbench/host/clock.h"
#include "microbench/host/topology.h"

namespace warpmeter {

namespace {

// A start and an end per thread, on lines of their own.
struct alignas(128) Stamp {
  double begin_s = 0;
  double end_s = 0;
};

void require_cpu(int cpu, int expected) {
  if (cpu != expected)
    throw std::runtime_error(fmt::format("a thread bound to core {} ran on {}", expected, cpu));
}

}  // namespace

Team::Team(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  for (int rank = 0; rank < size(); ++rank) threads_.emplace_back([this, rank] { serve(rank); });
  try {
    run([this](int rank) { bind_thread(cpus_[static_cast<std::size_t>(rank)]); });
  } catch (...) {
    stop();
    throw;
  }
}

Team::~Team() { stop(); }

void Team::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Team::serve(int rank) {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)(rank);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    if (--running_ == 0) done_.notify_one();
  }
}

void Team::run(const Work& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = size();
  error_ = nullptr;
  ++round_;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

double Team::time(const Work& work) {
  std::vector<Stamp> stamps(cpus_.size());
  run([&](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    barrier();
    const int before = current_cpu();
    stamps[index].begin_s = now_s();
    work(rank);
    stamps[index].end_s = now_s();
    require_cpu(before, cpus_[index]);
    require_cpu(current_cpu(), cpus_[index]);
  });
  double begin = stamps.front().begin_s, end = stamps.front().end_s;
  for (const Stamp& stamp : stamps) {
    begin = std::min(begin, stamp.begin_s);
    end = std::max(end, stamp.end_s);
  }
  return end - begin;
}

void Team::barrier() {
  const int generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  // A core may be shared with another process: after a while let the others in.
  for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
    if (spins < 10000)
      __builtin_ia32_pause();
    else
      std::this_thread::yield();
  }
}

}  // namespace warpmeter
