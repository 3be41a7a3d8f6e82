// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

namespace warpmeter {

// Plain text table: columns as wide as their widest cell, two spaces between, no trailing blanks,
// UTF-8 counted by code points.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);

}  // namespace warpmeter
