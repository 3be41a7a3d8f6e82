// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "collectors/cupti_api.h"

namespace warpmeter {

// The buffers that CUPTI fills with activity records. Their number is bounded: when all are full,
// CUPTI gets none and counts what it drops. They are never freed, because CUPTI may hold one for
// longer than it says. CUPTI calls back without a pointer of ours, so there is one of these in a
// process at a time.
class ActivityBuffers {
 public:
  struct Filled {
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
  };

  // At most `count` buffers of `bytes`, made when they are needed.
  ActivityBuffers(const CuptiApi& cupti, std::size_t count, std::size_t bytes);
  ~ActivityBuffers();  // CUPTI's callbacks find nothing from now on
  ActivityBuffers(const ActivityBuffers&) = delete;
  ActivityBuffers& operator=(const ActivityBuffers&) = delete;

  // Hands the callbacks to CUPTI. Throws InputError.
  void attach();

  // The writer's side: the oldest filled one; give it back with release().
  std::optional<Filled> take();
  void release(const Filled& filled);

  // Records that CUPTI dropped, since the last call.
  std::uint64_t take_dropped();

  std::size_t allocated_bytes() const;

 private:
  static void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
  static void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t valid);
  std::uint8_t* acquire();

  const CuptiApi& cupti_;
  const std::size_t count_, bytes_;
  mutable std::mutex mutex_;
  std::size_t allocated_ = 0;
  std::vector<std::uint8_t*> free_;
  std::deque<Filled> filled_;
  std::uint64_t dropped_ = 0;
};

}  // namespace warpmeter
