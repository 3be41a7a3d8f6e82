// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/matrix_results.h"

#include <algorithm>
#include <cstring>

namespace emulator {

const MatrixResults::Lanes* MatrixResults::find(std::int32_t slot) const {
  const auto found = results_.find(slot);
  return found == results_.end() ? nullptr : &found->second.lanes;
}

MatrixResults::Lanes& MatrixResults::add(std::int32_t slot) {
  Result& result = results_[slot];
  result.group = waited_ + groups_.size() - 1;
  return result.lanes;
}

void MatrixResults::note(std::uint64_t done) { groups_.back() = std::max(groups_.back(), done); }

void MatrixResults::copy(std::int32_t to, std::int32_t from) {
  if (results_.empty()) return;
  const auto found = results_.find(from);
  if (found == results_.end()) {
    results_.erase(to);
  } else {
    const Result result = found->second;
    results_[to] = result;
  }
}

std::uint64_t MatrixResults::wait(std::size_t kept, std::byte* file) {
  const std::size_t committed = groups_.size() - 1;
  const std::size_t ended = committed - std::min(kept, committed);
  std::uint64_t done = 0;
  for (std::size_t g = 0; g < ended; ++g) done = std::max(done, groups_[g]);
  groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(ended));
  waited_ += ended;
  std::erase_if(results_, [this, file](const auto& entry) {
    const auto& [slot, result] = entry;
    if (result.group >= waited_) return false;
    std::memcpy(file + slot, result.lanes.data(), sizeof result.lanes);
    return true;
  });
  return done;
}

}  // namespace emulator
