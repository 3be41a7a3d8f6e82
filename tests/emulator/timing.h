// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Virtual time of work, and the numbers of the chip file that it must follow.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// A number of the chip file: planted("/dram/latency").
inline double planted(const std::string& key) {
  static const nlohmann::json chip =
      nlohmann::json::parse(std::ifstream(std::getenv("WARPMETER_EMULATED_CHIP_FILE")));
  return chip.at(nlohmann::json::json_pointer(key)).get<double>();
}

// A stream of the device that was current, with the time of the work between start() and stop().
class TimedStream {
 public:
  explicit TimedStream(unsigned int flags = cudaStreamNonBlocking) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, flags), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&begin_), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&end_), cudaSuccess);
  }
  ~TimedStream() {
    (void)cudaStreamDestroy(stream_);
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void start() { EXPECT_EQ(cudaEventRecord(begin_, stream_), cudaSuccess); }
  void stop() { EXPECT_EQ(cudaEventRecord(end_, stream_), cudaSuccess); }
  // Work of this stream begins no earlier than start() of the other, and its stop() waits for all
  // that the other has been given.
  void start_behind(const TimedStream& other) {
    EXPECT_EQ(cudaStreamWaitEvent(stream_, other.begin_, 0), cudaSuccess);
  }
  void join(TimedStream& other) {
    other.stop();
    EXPECT_EQ(cudaStreamWaitEvent(stream_, other.end_, 0), cudaSuccess);
  }
  double seconds() {
    float ms = 0;
    EXPECT_EQ(cudaEventSynchronize(end_), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&ms, begin_, end_), cudaSuccess);
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// What launches, gaps and the resolution of events add to a few pieces of work, in seconds.
inline constexpr double overheads_s = 12e-6;
