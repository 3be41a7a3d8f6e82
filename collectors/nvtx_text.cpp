// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_text.h"

#include <algorithm>

namespace warpmeter {
namespace {

constexpr char32_t replacement = 0xFFFD;

bool is_character(char32_t c) { return c < 0xD800 || (c > 0xDFFF && c < 0x110000); }

bool continues(char byte) { return (byte & 0xC0) == 0x80; }

void append(std::string& text, char32_t c) {
  const auto byte = [&text](char32_t value) { text.push_back(static_cast<char>(value)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F));
  if (c < 0x10000)
    byte(0xE0 | c >> 12);
  else
    byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F));
  byte(0x80 | (c >> 6 & 0x3F));
  byte(0x80 | (c & 0x3F));
}

// Bytes of the character that `text` begins with; 0: it begins with none.
std::size_t length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  char32_t c = first & (0xFF >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (!continues(text[i])) return 0;
    c = c << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  const char32_t smallest = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  return c >= smallest && is_character(c) ? size : 0;
}

}  // namespace

std::string nvtx_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = length(text);
    if (size == 0)
      append(clean, replacement);
    else
      clean.append(text.substr(0, size));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return clean;
}

std::string nvtx_utf8(std::u32string_view text) {
  std::string clean;
  for (const char32_t c : text) append(clean, is_character(c) ? c : replacement);
  return clean;
}

std::string_view nvtx_cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && bytes - end < 3 && continues(text[end])) --end;
  return text.substr(0, continues(text[end]) ? bytes : end);
}

}  // namespace warpmeter
