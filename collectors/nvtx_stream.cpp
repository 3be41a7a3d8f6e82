// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_stream.h"

#include <algorithm>
#include <utility>

namespace warpmeter {
namespace {

constexpr std::size_t first_capacity = 4096;
constexpr std::size_t kept_capacity = std::size_t{1} << 18;

}  // namespace

void NvtxLosses::lose_range(std::int64_t start_ns) {
  from_ns = ranges == 0 ? start_ns : std::min(from_ns, start_ns);
  to_ns = ranges == 0 ? start_ns : std::max(to_ns, start_ns);
  ++ranges;
}

void NvtxLosses::add(const NvtxLosses& other) {
  if (other.ranges != 0) {
    from_ns = ranges == 0 ? other.from_ns : std::min(from_ns, other.from_ns);
    to_ns = ranges == 0 ? other.to_ns : std::max(to_ns, other.to_ns);
  }
  ranges += other.ranges;
  pops += other.pops;
  ends += other.ends;
  cut += other.cut;
  failed += other.failed;
}

NvtxStream::~NvtxStream() { used_ -= buffer_.capacity() + taken_.capacity(); }

void NvtxStream::grow(std::size_t bytes) {
  const std::size_t before = buffer_.capacity();
  buffer_.reserve(std::max({first_capacity, 2 * before, buffer_.size() + bytes}));
  used_ += buffer_.capacity() - before;
}

bool NvtxStream::append(std::span<const std::byte> record) {
  if (buffer_.size() + record.size() > buffer_.capacity()) {
    const std::size_t more = std::max(first_capacity, buffer_.capacity() + record.size());
    if (used_.load(std::memory_order_relaxed) + more > limit_.load(std::memory_order_relaxed))
      return false;
    grow(record.size());
  }
  buffer_.insert(buffer_.end(), record.begin(), record.end());
  return true;
}

void NvtxStream::append_end(const NvtxEnd& end) {
  const auto bytes = std::as_bytes(std::span(&end, 1));
  if (buffer_.size() + bytes.size() > buffer_.capacity()) grow(bytes.size());
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::span<const std::byte> NvtxStream::take(NvtxLosses& into) {
  // Memory that a burst needed goes back to the others.
  if (taken_.capacity() > kept_capacity && taken_.size() < taken_.capacity() / 4) {
    used_ -= taken_.capacity();
    std::vector<std::byte>().swap(taken_);
  }
  taken_.clear();
  const std::lock_guard lock(mutex);
  std::swap(buffer_, taken_);
  into.add(std::exchange(losses, {}));
  return taken_;
}

}  // namespace warpmeter
