// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "core/error.h"

// Linux 5.14 and 6.1; older C libraries lack the names, older kernels answer EINVAL.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace warpmeter {

namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Does the smaps header line "55d0-55e0 rw-p ..." begin a mapping that holds `address`? Null if it
// is no header.
bool starts_mapping(const std::string& line, std::uintptr_t& begin, std::uintptr_t& end) {
  char dash = 0;
  std::istringstream text(line);
  return static_cast<bool>(text >> std::hex >> begin >> dash >> end) && dash == '-';
}

// Mappings of DRAM-sized sets are kept for the next set of that size and kind: to zero a gigabyte
// anew for every campaign takes longer than to measure in it, and at that size it does not matter
// which pages one gets. Smaller sets, where placement decides conflicts, are always fresh.
class Kept {
 public:
  std::byte* take(std::size_t bytes, PageKind kind) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find({bytes, kind});
    if (found == free_.end()) return nullptr;
    std::byte* data = found->second;
    free_.erase(found);
    return data;
  }

  // False if the caller has to unmap it: it is small, or as much is kept as one set needs.
  bool put(std::byte* data, std::size_t bytes, PageKind kind) {
    const std::lock_guard lock(mutex_);
    if (bytes < smallest || kept_bytes(kind) + bytes > largest_sum) return false;
    free_.emplace(Key{bytes, kind}, data);
    return true;
  }

 private:
  using Key = std::pair<std::size_t, PageKind>;
  static constexpr std::size_t smallest = std::size_t{128} << 20;
  static constexpr std::size_t largest_sum = std::size_t{3} << 30;

  std::size_t kept_bytes(PageKind kind) const {
    std::size_t sum = 0;
    for (const auto& [key, data] : free_) sum += key.second == kind ? key.first : 0;
    return sum;
  }

  std::mutex mutex_;
  std::multimap<Key, std::byte*> free_;
};

Kept& kept() {
  static Kept pool;
  return pool;
}

std::byte* map_aligned(std::size_t size) {
  // A huge page more, to cut an aligned range from.
  const std::size_t reserved = size + Pages::huge_bytes;
  void* raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    throw UnsupportedError(fmt::format("no {} B of memory: {}", size, std::strerror(errno)));
  auto* begin = static_cast<std::byte*>(raw);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = round_up(address, Pages::huge_bytes) - address;
  if (before != 0) munmap(begin, before);
  const std::size_t after = reserved - before - size;
  if (after != 0) munmap(begin + before + size, after);
  return begin + before;
}

}  // namespace

PageKind parse_page(std::string_view text) {
  if (text == "4k") return PageKind::base;
  if (text == "huge") return PageKind::huge;
  throw InputError(fmt::format("page is \"{}\"; it can be 4k or huge", text));
}

Pages::Pages(std::size_t bytes, PageKind kind)
    : data_(nullptr),
      size_(round_up(bytes, kind == PageKind::huge ? huge_bytes : 4096)),
      kind_(kind) {
  data_ = kept().take(size_, kind);
  if (data_ != nullptr) return;
  data_ = map_aligned(size_);
  const int advice = kind == PageKind::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  // A kernel without transparent huge pages refuses both; for 4 KiB pages that is what we want.
  if (madvise(data_, size_, advice) != 0 && kind == PageKind::huge) {
    const int error = errno;
    munmap(data_, size_);
    throw UnsupportedError(
        fmt::format("no huge pages: madvise(MADV_HUGEPAGE): {}", std::strerror(error)));
  }
}

Pages::~Pages() {
  if (!kept().put(data_, size_, kind_)) munmap(data_, size_);
}

void Pages::populate(std::size_t part, std::size_t parts) const {
  const std::size_t unit = kind_ == PageKind::huge ? huge_bytes : 4096;
  const std::size_t units = size_ / unit;
  std::byte* begin = data_ + units * part / parts * unit;
  const auto bytes = static_cast<std::size_t>(data_ + units * (part + 1) / parts * unit - begin);
  if (bytes == 0 || madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
  for (std::size_t at = 0; at < bytes; at += 4096)
    *const_cast<volatile std::byte*>(begin + at) = std::byte{0};
}

std::size_t Pages::bytes_in_huge_pages() const {
  std::ifstream smaps("/proc/self/smaps");
  const auto first = reinterpret_cast<std::uintptr_t>(data_);
  std::size_t huge = 0;
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (starts_mapping(line, begin, end)) {
      ours = begin < first + size_ && end > first;
      continue;
    }
    std::size_t kib = 0;
    if (ours && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kib) == 1) huge += kib * 1024;
  }
  return huge;
}

void Pages::require_kind() const {
  std::size_t huge = bytes_in_huge_pages();
  if (kind_ == PageKind::huge && huge < size_) {
    madvise(data_, size_, MADV_COLLAPSE);
    huge = bytes_in_huge_pages();
  }
  if (kind_ == PageKind::huge && huge < size_)
    throw UnsupportedError(fmt::format("no huge pages: the system gave {} of {} B", huge, size_));
  if (kind_ == PageKind::base && huge != 0)
    throw UnsupportedError(
        fmt::format("no 4 KiB pages: {} of {} B are in huge pages", huge, size_));
}

}  // namespace warpmeter
