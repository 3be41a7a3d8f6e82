// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <string_view>

namespace warpmeter {

// Text as UTF-8: what is not (a byte, or a number that is no character) becomes U+FFFD.
std::string nvtx_utf8(std::string_view text);
std::string nvtx_utf8(std::u32string_view text);

// The longest prefix of at most `bytes` that does not end within a character.
std::string_view nvtx_cut(std::string_view text, std::size_t bytes);

}  // namespace warpmeter
