// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace warpmeter {

// Fresh, uninitialised memory for one operand. From 2 MiB on it is a mapping of its own, aligned
// for and advised to use transparent huge pages, so that translation is not part of a kernel's
// time; freeing it returns the pages, so the next campaign gets new ones. Starts are staggered by a
// few cache lines: operands that begin at the same page offset would suffer 4 KiB aliasing (a load
// waits for an older store whose address agrees in the low 12 bits).
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size);  // Throws std::bad_alloc.

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace warpmeter
