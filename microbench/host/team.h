// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warpmeter {

// Threads bound to one core each, kept between samples. The calling thread only waits and is never
// bound: a binding would be inherited by the OpenMP threads that it may start later.
class Team {
 public:
  using Work = std::function<void(int rank)>;

  // One thread per processor number. Throws UnsupportedError if one cannot be bound.
  explicit Team(std::vector<int> cpus);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(cpus_.size()); }
  const std::vector<int>& cpus() const { return cpus_; }

  // Runs work(rank) on every thread and waits for all; rethrows the first exception.
  void run(const Work& work);

  // The same, with all threads held at a barrier first: seconds from the first start to the last
  // end. Throws if a thread was not on its core before and after.
  double time(const Work& work);

  // Waits, spinning, until every thread of the team is here. Only within work.
  void barrier();

 private:
  void serve(int rank);
  void stop();

  std::vector<int> cpus_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Work* work_ = nullptr;
  std::size_t round_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  alignas(128) std::atomic<int> arrived_{0};
  alignas(128) std::atomic<int> generation_{0};
  std::vector<std::thread> threads_;
};

}  // namespace warpmeter
