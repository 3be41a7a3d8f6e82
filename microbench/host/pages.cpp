// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

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

}  // namespace

PageKind parse_page(std::string_view text) {
  if (text == "4k") return PageKind::base;
  if (text == "huge") return PageKind::huge;
  throw InputError(fmt::format("page is \"{}\"; it can be 4k or huge", text));
}

Pages::Pages(std::size_t bytes, PageKind kind)
    : size_(round_up(bytes, kind == PageKind::huge ? huge_bytes : 4096)), kind_(kind) {
  // A huge page more, to cut an aligned range from.
  const std::size_t reserved = size_ + huge_bytes;
  void* raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    throw UnsupportedError(fmt::format("no {} B of memory: {}", size_, std::strerror(errno)));
  auto* begin = static_cast<std::byte*>(raw);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(begin), huge_bytes) -
                             reinterpret_cast<std::uintptr_t>(begin);
  data_ = begin + before;
  if (before != 0) munmap(begin, before);
  if (const std::size_t after = reserved - before - size_; after != 0) munmap(data_ + size_, after);

  const int advice = kind == PageKind::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  // A kernel without transparent huge pages refuses both; for 4 KiB pages that is what we want.
  if (madvise(data_, size_, advice) != 0 && kind == PageKind::huge) {
    const int error = errno;
    munmap(data_, size_);
    throw UnsupportedError(
        fmt::format("no huge pages: madvise(MADV_HUGEPAGE): {}", std::strerror(error)));
  }
}

Pages::~Pages() { munmap(data_, size_); }

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
