// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Internal to NvtxRecorder.
#pragma once

#include <unistd.h>

#include "collectors/nvtx_recorder.h"

namespace warpmeter {

inline constexpr std::size_t nvtx_max_depth = 1024;  // ranges that a thread has pushed

inline NvtxEnd nvtx_end_record(NvtxRecordType type, std::uint64_t token, std::int64_t end_ns,
                               bool asked) {
  return {{sizeof(NvtxEnd), type, token}, end_ns, asked ? std::uint64_t{1} : 0};
}

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

  static thread_local Thread* here;  // that of this thread; null before its first range

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

}  // namespace warpmeter
