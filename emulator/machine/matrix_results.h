// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emulator {

// Sums of wgmma that a warp has not waited for. Its registers hold the old values until then; only
// further products see the new ones.
class MatrixResults {
 public:
  using Lanes = std::array<std::uint32_t, 32>;

  // What a product adds to: the sum on its way to the register at `slot`, or null.
  const Lanes* find(std::int32_t slot) const;
  // The result for a register, which the open group brings.
  Lanes& add(std::int32_t slot);
  // The open group ends no earlier than `done`.
  void note(std::uint64_t done);
  // `to` gets what `from` will get, or nothing any more.
  void copy(std::int32_t to, std::int32_t from);
  void commit() { groups_.push_back(0); }
  // All groups but the `kept` newest committed ones arrive in the registers. Returns their end.
  std::uint64_t wait(std::size_t kept, std::byte* file);

  bool fenced = false;  // the warp has executed wgmma.fence

 private:
  struct Result {
    Lanes lanes;
    std::uint64_t group;
  };
  std::unordered_map<std::int32_t, Result> results_;
  std::vector<std::uint64_t> groups_{0};  // end of each group not waited for; the last is open
  std::uint64_t waited_ = 0;              // groups before the first of them
};

}  // namespace emulator
