// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/cuda_text.h"

#include <fmt/format.h>

namespace warpmeter {

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string cuda_uuid_text(const char* prefix, std::span<const unsigned char, 16> uuid) {
  std::string text = prefix;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

}  // namespace warpmeter
