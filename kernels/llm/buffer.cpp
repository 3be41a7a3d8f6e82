// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/buffer.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace warpmeter {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// 0, 5, 10, ... lines into a page, modulo the page: 13 distinct starts.
std::size_t next_stagger() {
  static std::atomic<std::size_t> count = 0;
  return count++ % (page / (5 * line) + 1) * 5 * line;
}

std::shared_ptr<void> map_huge(std::size_t size, std::byte*& begin) {
  const std::size_t length = size + 2 * huge_page;
  void* mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  madvise(mapping, length, MADV_HUGEPAGE);  // only advice: refusing it costs speed, not truth
  begin =
      reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(mapping), huge_page));
  return {mapping, [length](void* p) { munmap(p, length); }};
}

}  // namespace

Buffer::Buffer(std::size_t size) : size_(size) {
  if (size >= huge_page) {
    owner_ = map_huge(size + page, data_);
    data_ += next_stagger();
    return;
  }
  // The small ones come from the heap without slack behind them, where the address sanitizer sees
  // overruns.
  const std::size_t stagger = next_stagger();
  owner_ = {operator new(stagger + size, std::align_val_t(page)),
            [](void* p) { operator delete(p, std::align_val_t(page)); }};
  data_ = static_cast<std::byte*>(owner_.get()) + stagger;
}

}  // namespace warpmeter
