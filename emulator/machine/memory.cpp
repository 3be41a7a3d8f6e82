// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "emulator/machine/checks.h"

namespace emulator {
namespace {

constexpr std::uint64_t arena_bytes = std::uint64_t{1} << 43;  // address space, not memory
constexpr std::uint64_t arena_hint = std::uint64_t{1} << 44;   // the same in every process
constexpr std::uint64_t page = 4096;
// Unmapped after each allocation, so that overruns do not hit the next one; no power of two, so
// that buffers do not all begin in the same set of a cache.
constexpr std::uint64_t gap = 65 * page;
constexpr std::uint64_t large = std::uint64_t{2} << 20;  // large allocations start at a large page

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

Memory::Memory() {
  void* arena = mmap(pointer(arena_hint), arena_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "reserving device addresses");
  }
  arena_ = reinterpret_cast<std::uint64_t>(arena);
  next_ = round_up(arena_ + 1, large);
  if (!checks_enabled()) return;
  void* written = mmap(nullptr, arena_bytes / 8 + page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (written == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "reserving space for checks");
  }
  written_ = static_cast<std::uint8_t*>(written);
}

Memory::~Memory() {
  munmap(pointer(arena_), arena_bytes);
  if (written_ != nullptr) munmap(written_, arena_bytes / 8 + page);
}

std::uint64_t Memory::allocate(std::uint64_t bytes, MemoryKind kind, int device) {
  if (bytes > arena_bytes) return 0;
  const std::uint64_t begin = bytes >= large / 2 ? round_up(next_, large) : next_;
  const std::uint64_t mapped = round_up(std::max<std::uint64_t>(bytes, 1), page);
  if (begin + mapped + gap > arena_ + arena_bytes) return 0;
  if (mprotect(pointer(begin), mapped, PROT_READ | PROT_WRITE) != 0) return 0;
  // Host pages of 2 MiB: kernels jump about in device memory.
  if (mapped >= large) madvise(pointer(begin), mapped, MADV_HUGEPAGE);
  next_ = begin + mapped + gap;
  Allocation& made = allocations_[begin];
  made = {begin, begin + bytes, kind, device, false, ++count_};
  made.initialized = kind != MemoryKind::device || written_ == nullptr;
  if (!made.initialized) {
    const std::uint64_t from = (begin - arena_) / 8 / page * page;
    const std::uint64_t to = round_up((begin + mapped - arena_) / 8 + sizeof(std::uint64_t), page);
    if (mprotect(written_ + from, to - from, PROT_READ | PROT_WRITE) != 0) made.initialized = true;
  }
  if (kind == MemoryKind::device || kind == MemoryKind::managed) used_[device] += bytes;
  return begin;
}

void Memory::release(std::uint64_t begin) {
  Allocation& found = allocations_.at(begin);
  found.freed = true;
  ++generation_;
  const std::uint64_t bytes = found.end - found.begin;
  if (found.kind == MemoryKind::device || found.kind == MemoryKind::managed) {
    used_[found.device] -= bytes;
  }
  const std::uint64_t mapped = round_up(std::max<std::uint64_t>(bytes, 1), page);
  madvise(pointer(begin), mapped, MADV_DONTNEED);
  mprotect(pointer(begin), mapped, PROT_NONE);
}

void Memory::release_all(int device) {
  for (const auto& [begin, found] : allocations_) {
    if (found.kind == MemoryKind::device && found.device == device && !found.freed) release(begin);
  }
}

bool Memory::add(std::uint64_t begin, std::uint64_t bytes, int device) {
  const auto after = allocations_.lower_bound(begin + bytes);
  if (after != allocations_.begin()) {
    const auto before = std::prev(after);
    if (!before->second.freed && before->second.end > begin) return false;
  }
  allocations_[begin] = {begin,    begin + bytes, MemoryKind::registered, device, false,
                         ++count_, true};
  return true;
}

void Memory::remove(std::uint64_t begin) {
  allocations_.erase(begin);
  ++generation_;
}

const Allocation* Memory::find(std::uint64_t address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& found = std::prev(after)->second;
  return address < found.end || address == found.begin ? &found : nullptr;
}

const Allocation* Memory::live(std::uint64_t address) const {
  const Allocation* found = find(address);
  return found != nullptr && !found->freed ? found : nullptr;
}

void Memory::note_written(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* found = live(address);
  if (found == nullptr || found->initialized) return;
  if (address == found->begin && bytes >= found->end - found->begin) {
    found->initialized = true;
  } else {
    set_range(written_, address - arena_, bytes);
  }
}

void Memory::mark(std::uint64_t address, std::uint64_t bytes) const {
  set_range(written_, address - arena_, bytes);
}

bool Memory::any_written(std::uint64_t address, std::uint32_t bytes) const {
  return any_bit(written_, address - arena_, bytes);
}

std::string Memory::describe(std::uint64_t address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return "below all allocations";
  const Allocation& found = std::prev(after)->second;
  return fmt::format("{} B past the begin of allocation {} ({} B at {:#x}{})",
                     address - found.begin, found.number, found.end - found.begin, found.begin,
                     found.freed ? ", freed" : "");
}

std::uint64_t Memory::used(int device) const {
  const auto found = used_.find(device);
  return found == used_.end() ? 0 : found->second;
}

}  // namespace emulator
