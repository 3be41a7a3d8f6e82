// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "microbench/host/pages.h"

namespace warpmeter {

enum class StreamKind { read, write, copy, triad };
enum class StoreKind { regular, non_temporal };

// 1, 1, 2 and 3.
std::size_t array_count(StreamKind kind);

// The arrays of one thread of a bandwidth benchmark, in huge pages of their own, and the loop over
// them. Arrays are whole units of 4 KiB and lie a multiple of 4 KiB apart, because a load whose
// address agrees in the low twelve bits with a store in flight waits for it: at this distance the
// load is as far ahead of the store as it can be.
class StreamSet {
 public:
  static constexpr std::size_t unit_bytes = 4096;

  // `units` of 4 KiB per array. To be called, like everything here, by the thread that streams.
  StreamSet(StreamKind kind, StoreKind stores, std::size_t units);

  // Fills the sources with random doubles in [1, 2), then runs the loop once over everything and
  // compares with scalar code. Throws UnsupportedError without huge pages and std::runtime_error
  // ("corrupt: ...") on a wrong result.
  void prepare(std::uint64_t seed);

  // Streams through `units` units of each array, going on where the last call ended; whole passes
  // where that is more than the array.
  void run(std::size_t units);

  std::size_t units() const { return units_; }
  std::size_t bytes_in_huge_pages() const { return pages_.bytes_in_huge_pages(); }

 private:
  double* array(std::size_t index) const;
  void stream(std::size_t first_unit, std::size_t units, std::size_t passes);
  bool matches() const;

  StreamKind kind_;
  StoreKind stores_;
  std::size_t units_;
  Pages pages_;
  std::size_t at_ = 0;               // unit
  volatile std::uint64_t sink_ = 0;  // keeps the sum of a read alive
};

}  // namespace warpmeter
