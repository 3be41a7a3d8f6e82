// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <string_view>

namespace warpmeter {

enum class PageKind { base, huge };

// "4k" or "huge". Throws InputError on any other text.
PageKind parse_page(std::string_view text);

// Anonymous memory for one case (fresh, except that sets of 128 MiB and more reuse mappings),
// aligned to a huge page, advised to use transparent huge pages or never to use them.
class Pages {
 public:
  static constexpr std::size_t huge_bytes = std::size_t{2} << 20;

  // Reserves addresses only. `bytes` is rounded up to whole huge pages for PageKind::huge. Throws
  // UnsupportedError if the system has none left or no transparent huge pages.
  Pages(std::size_t bytes, PageKind kind);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Makes the system place share `part` of `parts` of the pages, on the memory node of the calling
  // thread.
  void populate(std::size_t part, std::size_t parts) const;

  // Bytes that lie in huge pages now, as /proc/self/smaps says.
  std::size_t bytes_in_huge_pages() const;

  // Throws UnsupportedError unless all (huge) or none (base) of the memory lies in huge pages.
  // Before giving up it asks the system once to collapse the rest.
  void require_kind() const;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_;
  PageKind kind_;
};

}  // namespace warpmeter
