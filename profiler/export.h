// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>

#include "profiler/profile_reader.h"

namespace warpmeter {

// Exports of a profile. Each streams: memory does not grow with the file, except for the
// counters of kernels in a trace. Outputs appear whole or not at all. Each throws InputError, one
// line: the output cannot be written or is there, or the profile is damaged.

// Chrome's trace event format as JSON, which Perfetto and chrome://tracing read; times in
// microseconds with three decimals. Slices: kernels, copies and sets by device, process and stream;
// API calls and push/pop ranges by thread; start/end ranges as asynchronous slices; samples as
// counter tracks; losses as instants where they have a time. Counters of a kernel are arguments of
// its slice. Slices of a stream that overlap without nesting (programmatic dependent launch) go to
// further lanes. Returns how many kernels, copies and sets have no time and so no slice;
// `otherData` says it too, beside source, schema, provenance and all losses.
std::int64_t export_trace(const ProfileReader& reader, const std::filesystem::path& out);

// One VIEW.csv for each view, in a new folder: RFC 4180 with LF, a header line, null as an empty
// field, empty text as "".
void export_csv(const ProfileReader& reader, const std::filesystem::path& out);

// {"schema", "source", "views": {VIEW: [{column: value}]}}.
void export_json(const ProfileReader& reader, const std::filesystem::path& out);

// A cell as JSON text: numbers with 17 significant digits or fewer, text with invalid UTF-8
// replaced, blobs and numbers that are not finite as null.
std::string json_text(const sqlite::Cell& cell);

// Writes `out` through FILE.partial.
void write_new_file(const std::filesystem::path& out,
                    const std::function<void(std::ostream&)>& write);

}  // namespace warpmeter
