// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "collectors/nvtx_event.h"

namespace warpmeter {

// What was lost, or does not fit together, since it was last taken.
struct NvtxLosses {
  std::uint64_t ranges = 0;             // no room, or the stack was too deep
  std::int64_t from_ns = 0, to_ns = 0;  // starts of those ranges
  std::uint64_t pops = 0, ends = 0;     // without a push, of an id that is not open
  std::uint64_t cut = 0;                // messages longer than nvtx_max_message
  std::uint64_t failed = 0;             // calls that ran out of memory

  void lose_range(std::int64_t start_ns);
  void add(const NvtxLosses& other);
  bool operator==(const NvtxLosses&) const = default;
};

// Records on their way from one thread, or from all for ranges that any thread may end, to the
// writer. Its owner appends under the mutex; the writer holds that only to swap buffers.
class NvtxStream {
 public:
  // All streams together keep at most `limit` bytes of `used`, but for the ends of ranges whose
  // begin was taken: those always have room, so that no range that has ended looks open.
  NvtxStream(std::atomic<std::size_t>& used, const std::atomic<std::size_t>& limit)
      : used_(used), limit_(limit) {}
  ~NvtxStream();
  NvtxStream(const NvtxStream&) = delete;
  NvtxStream& operator=(const NvtxStream&) = delete;

  mutable std::mutex mutex;
  NvtxLosses losses;

  // These three with `mutex` held. False if there is no room.
  bool append(std::span<const std::byte> record);
  void append_end(const NvtxEnd& end);  // may throw std::bad_alloc

  bool idle() const { return buffer_.empty() && losses == NvtxLosses{}; }

  // The writer's: what has come since the last call, valid until the next one. Takes `mutex`.
  std::span<const std::byte> take(NvtxLosses& into);

 private:
  void grow(std::size_t bytes);

  std::atomic<std::size_t>& used_;
  const std::atomic<std::size_t>& limit_;
  std::vector<std::byte> buffer_, taken_;
};

}  // namespace warpmeter
