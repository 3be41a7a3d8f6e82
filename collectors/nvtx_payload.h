// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Payloads of NVTX's payload extension as JSON, by the schemas that the program registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// A copy of nvtxPayloadSchemaEntry_t.
struct NvtxSchemaEntry {
  std::uint64_t flags = 0, type = 0;
  std::string name;
  std::uint64_t detail = 0;  // length of an array or a string
  std::uint64_t offset = 0;  // bytes; 0 after the first entry: where alignment puts it
};

// A copy of nvtxPayloadSchemaAttr_t, or of nvtxPayloadEnumAttr_t.
struct NvtxSchema {
  std::string name;
  std::uint64_t type = 0;  // NVTX_PAYLOAD_SCHEMA_TYPE_*; 0: an enumeration
  std::size_t size = 0;    // bytes; 0: not said
  std::size_t pack = 0;    // bytes, at most that alignment; 0: natural
  std::vector<NvtxSchemaEntry> entries;
  std::map<std::uint64_t, std::string> values;  // of an enumeration
};

using NvtxSchemas = std::unordered_map<std::uint64_t, NvtxSchema>;

// Bytes of a predefined type or a schema; 0 if it has no fixed size.
std::size_t nvtx_type_size(const NvtxSchemas& schemas, std::uint64_t type);

// An object with a member an entry (numbers, texts, arrays, objects of nested schemas; an
// enumeration's value by its name). An entry without a name is "#i", by its place. Floating-point
// values that are no numbers are texts. What is not understood (unions, arrays of variable length,
// pointers, types without a C++ type, more bytes than there are) is {"schema": id, "bytes": n}, as
// is the whole if the schema is not known; n is null if it is not known. `registered` gives the
// text of a registered string.
Json nvtx_payload_json(const NvtxSchemas& schemas, std::uint64_t schema,
                       std::span<const std::byte> bytes,
                       const std::function<std::string_view(std::uint64_t)>& registered);

// What is not understood.
Json nvtx_opaque_payload(std::uint64_t schema, std::uint64_t bytes);

}  // namespace warpmeter
