// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

#include "emulator/machine/fault.h"

namespace emulator {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t blob_magic = 0xba55ed50;
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_architecture = 0x100000;
constexpr std::uint64_t flag_family = 0x200000;
constexpr std::uint64_t blob_header = 16;
constexpr std::uint64_t entry_header = 64;  // the least
constexpr std::uint64_t largest_text = std::uint64_t{1} << 28;

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

[[noreturn]] void damaged(const char* what) {
  throw Fault(cudaErrorInvalidKernelImage, fmt::format("damaged fat binary: {}", what));
}

struct Entry {
  const std::byte* payload = nullptr;
  std::uint64_t stored = 0;
  std::uint32_t compressed = 0;
  std::uint32_t architecture = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
};

std::string text_of(const Entry& entry) {
  const auto* payload = reinterpret_cast<const char*>(entry.payload);
  if ((entry.flags & (flag_zstd | flag_lz4)) == 0) {
    return {payload, strnlen(payload, entry.stored)};
  }
  if (entry.compressed > entry.stored || entry.size > largest_text)
    damaged("the size of compressed PTX");
  std::string text(entry.size, '\0');
  if (entry.flags & flag_lz4) {
    const int got = LZ4_decompress_safe(payload, text.data(), static_cast<int>(entry.compressed),
                                        static_cast<int>(text.size()));
    if (got < 0) throw Fault(cudaErrorInvalidPtx, "compressed PTX: no valid LZ4 block");
    text.resize(strnlen(text.data(), static_cast<std::size_t>(got)));
    return text;
  }
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), payload, entry.compressed);
  if (ZSTD_isError(got)) {
    throw Fault(cudaErrorInvalidPtx, fmt::format("compressed PTX: {}", ZSTD_getErrorName(got)));
  }
  text.resize(got);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

std::string read_ptx(const void* wrapper, int major, int minor) {
  const auto* blob = static_cast<const std::byte*>(wrapper);
  if (read<std::uint32_t>(blob) == wrapper_magic) blob = read<const std::byte*>(blob + 8);
  if (read<std::uint32_t>(blob) != blob_magic) {
    throw Fault(cudaErrorInvalidKernelImage, "not a fat binary");
  }
  if (read<std::uint16_t>(blob + 6) != blob_header) damaged("the size of its header");
  const std::byte* at = blob + blob_header;
  const std::byte* end = at + read<std::uint64_t>(blob + 8);
  const auto capability = static_cast<std::uint32_t>(10 * major + minor);
  std::optional<Entry> best;
  std::set<std::string> seen;
  while (at < end) {
    Entry entry;
    const auto left = static_cast<std::uint64_t>(end - at);
    if (left < entry_header) damaged("an entry beyond its end");
    const auto header = read<std::uint32_t>(at + 4);
    if (header < entry_header || header > left || read<std::uint64_t>(at + 8) > left - header)
      damaged("an entry beyond its end");
    entry.payload = at + header;
    entry.stored = read<std::uint64_t>(at + 8);
    entry.compressed = read<std::uint32_t>(at + 16);
    entry.architecture = read<std::uint32_t>(at + 28);
    entry.flags = read<std::uint64_t>(at + 40);
    entry.size = read<std::uint64_t>(at + 56);
    const bool ptx = read<std::uint16_t>(at) == kind_ptx;
    at = entry.payload + entry.stored;
    const bool specific = (entry.flags & (flag_architecture | flag_family)) != 0;
    seen.insert(
        fmt::format("{} {}{}", ptx ? "PTX" : "SASS", entry.architecture, specific ? "a" : ""));
    if (!ptx || entry.architecture > capability) continue;
    if (specific && entry.architecture != capability) continue;
    const auto rank = [](const Entry& e) {
      return 2 * e.architecture + ((e.flags & flag_architecture) != 0);
    };
    if (!best || rank(entry) > rank(*best)) best = entry;
  }
  if (best) return text_of(*best);
  std::string list;
  for (const std::string& one : seen) list += (list.empty() ? "" : ", ") + one;
  throw Fault(
      cudaErrorNoKernelImageForDevice,
      fmt::format("no PTX for compute capability {}.{} in this binary (it holds: {}); build "
                  "with -arch=compute_{} or, in CMake, CUDA_ARCHITECTURES={}-virtual, and "
                  "without -rdc=true",
                  major, minor, list.empty() ? "nothing" : list, capability, capability));
}

}  // namespace emulator
