// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// Text of a document made safe between tags, in quoted attributes and in labels of plotly, which
// reads some tags and all entities.
std::string escape_html(std::string_view text);

// JSON made safe inside a script element: no "<" remains, so no text can close it. Broken UTF-8
// becomes U+FFFD.
std::string json_in_script(const Json& document);

// "<code>text</code>" with the text escaped; lines may break after its dots, commas and slashes.
std::string code(std::string_view text);

// A word in a rounded box; `kind` is a class of page.css: "good", "warn", "bad", "info".
std::string badge(std::string_view kind, std::string_view text);

// A paragraph that explains in grey: how to read a plot, or why it is missing.
std::string paragraph(std::string_view css_class, std::string_view html);

// A table in a wrapper that may scroll sideways. Cells are HTML. A column whose title ends in ">"
// is a column of numbers and flush right (the mark is not shown). A row of one cell is a
// subheading.
std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace warpmeter
