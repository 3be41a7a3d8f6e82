// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string_view>

namespace warpmeter {

// Files embedded at build time: plotly.js (MIT, its notice is kept at its head), and ours.
std::string_view plotly_js();
std::string_view page_css();
std::string_view page_js();

}  // namespace warpmeter
