// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpmeter {

// Our documents keep their keys in the order in which they are written, so that files diff well.
using Json = nlohmann::ordered_json;

// Reads a whole JSON file. Throws InputError (one line: file, byte offset, remedy) if it is
// missing, unreadable, empty, too large (more than `max_bytes`), truncated or not JSON.
Json read_json(const std::filesystem::path& file, std::size_t max_bytes = std::size_t{1} << 30);

// Writes `text` so that `file` holds either its old content or all of `text`: a temporary file in
// the same folder, fsync, rename. Throws InputError naming the file and the cause (missing folder,
// no permission, disk full); removes the temporary file.
void write_atomically(const std::filesystem::path& file, std::string_view text);

// write_atomically of `document`, indented by one space, with a final newline. NaN and infinity are
// refused (std::logic_error): a missing value is null.
void write_json(const std::filesystem::path& file, const Json& document);

// Checked access for readers of our documents; each throws InputError that names `where` and the
// key.
const Json& require(const Json& object, std::string_view key, std::string_view where);
std::string require_string(const Json& object, std::string_view key, std::string_view where);
double require_number(const Json& object, std::string_view key, std::string_view where);

}  // namespace warpmeter
