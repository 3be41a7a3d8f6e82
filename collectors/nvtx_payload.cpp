// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_payload.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "collectors/nvtx_text.h"

namespace warpmeter {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int max_nesting = 8;
constexpr std::uint64_t array_flags = 7 << 4;  // NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_*
constexpr std::uint64_t indirect_flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER |
                                         NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
                                         NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;

template <typename T>
T load(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <typename T>
Json number(Bytes bytes) {
  const T value = load<T>(bytes);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return static_cast<double>(value);
  } else {
    return value;
  }
}

struct Scalar {
  std::size_t size;
  Json (*read)(Bytes);
};

template <typename T>
constexpr Scalar scalar{sizeof(T), number<T>};

Json address(Bytes bytes) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%llx", load<unsigned long long>(bytes));
  return text;
}

std::optional<Scalar> scalar_of(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
      return scalar<std::int8_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return scalar<std::uint8_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
      return scalar<std::int16_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
      return scalar<std::uint16_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
      return scalar<std::int32_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return scalar<std::uint32_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return scalar<std::int64_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
      return scalar<std::uint64_t>;
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
      return scalar<float>;
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      return scalar<double>;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
      return scalar<long double>;
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
      return Scalar{sizeof(void*), address};
    default:
      return std::nullopt;
  }
}
static_assert(sizeof(long) == 8 && sizeof(wchar_t) == 4);

// Bytes of a character of a text type; 0: the type is no text.
std::size_t character_size(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
      return 2;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return 4;
    default:
      return 0;
  }
}

std::string text_of(Bytes bytes, std::size_t character) {
  std::string text;
  if (character == 1) {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return nvtx_utf8(std::string_view(text).substr(0, text.find('\0')));
  }
  std::u32string wide;
  for (; bytes.size() >= character; bytes = bytes.subspan(character)) {
    const char32_t c = character == 2 ? load<char16_t>(bytes) : load<char32_t>(bytes);
    if (c == 0) break;
    const bool low = character == 2 && (c & 0xFC00) == 0xDC00 && !wide.empty() &&
                     (wide.back() & 0xFFFFFC00) == 0xD800;
    if (low)
      wide.back() = 0x10000 + ((wide.back() - 0xD800) << 10) + (c - 0xDC00);
    else
      wide.push_back(c);
  }
  return nvtx_utf8(wide);
}

class Reader {
 public:
  Reader(const NvtxSchemas& schemas,
         const std::function<std::string_view(std::uint64_t)>& registered)
      : schemas_(schemas), registered_(registered) {}

  struct Layout {
    std::size_t size = 0, align = 1;  // size 0: none that is fixed
  };

  Layout layout(std::uint64_t type, int nesting) const {
    if (const auto simple = scalar_of(type)) return {simple->size, simple->size};
    if (type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) return {8, 8};
    const auto found = schemas_.find(type);
    if (found == schemas_.end() || nesting > max_nesting) return {};
    const NvtxSchema& schema = found->second;
    if (schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_INVALID) return {schema.size, schema.size};
    Layout whole;
    std::size_t end = 0;
    for (const NvtxSchemaEntry& entry : schema.entries) {
      const Layout one = place(entry, schema, nesting + 1);
      if (one.size == 0) return {schema.size, whole.align};
      const std::size_t at = offset(entry, &entry == schema.entries.data(), end, one.align);
      end = at + one.size;
      whole.size = std::max(whole.size, end);
      whole.align = std::max(whole.align, one.align);
    }
    whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
    if (schema.size != 0) whole.size = schema.size;
    return whole;
  }

  Json read(std::uint64_t type, Bytes bytes, int nesting) const {
    if (const std::size_t character = character_size(type)) return text_of(bytes, character);
    if (const auto simple = scalar_of(type))
      return bytes.size() < simple->size ? nvtx_opaque_payload(type, bytes.size())
                                         : simple->read(bytes);
    if (type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE && bytes.size() >= 8)
      return nvtx_utf8(registered_(load<std::uint64_t>(bytes)));
    const auto found = schemas_.find(type);
    if (found == schemas_.end() || nesting > max_nesting)
      return nvtx_opaque_payload(type, bytes.size());
    const NvtxSchema& schema = found->second;
    if (schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_INVALID) return enumerator(type, schema, bytes);
    if (schema.type != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC &&
        schema.type != NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC)
      return nvtx_opaque_payload(type, bytes.size());
    return fields(schema, bytes, nesting);
  }

 private:
  Json fields(const NvtxSchema& schema, Bytes bytes, int nesting) const {
    Json object = Json::object();
    std::size_t end = 0;
    for (std::size_t i = 0; i < schema.entries.size(); ++i) {
      const NvtxSchemaEntry& entry = schema.entries[i];
      Json& value = object[entry.name.empty() ? "#" + std::to_string(i) : nvtx_utf8(entry.name)];
      const Layout one = place(entry, schema, nesting + 1);
      const std::size_t at = offset(entry, i == 0, end, one.align);
      end = at + one.size;
      if (one.size == 0 || at > bytes.size() || one.size > bytes.size() - at) {
        value = nvtx_opaque_payload(entry.type, one.size == 0 ? SIZE_MAX : one.size);
        if (one.size == 0) end = SIZE_MAX / 2;  // nobody knows where the next one is
        continue;
      }
      value = element(entry, bytes.subspan(at, one.size), nesting + 1);
    }
    return object;
  }

  static bool is_array(const NvtxSchemaEntry& entry) { return (entry.flags & array_flags) != 0; }

  Json element(const NvtxSchemaEntry& entry, Bytes bytes, int nesting) const {
    if (!is_array(entry) || character_size(entry.type) != 0)
      return read(entry.type, bytes, nesting);
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR || entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR8)
      return text_of(bytes, 1);
    Json array = Json::array();
    const std::size_t size = bytes.size() / entry.detail;
    for (std::size_t i = 0; i < entry.detail; ++i)
      array.push_back(read(entry.type, bytes.subspan(i * size, size), nesting));
    return array;
  }

  // Of an entry with its array; size 0: not of a fixed one.
  Layout place(const NvtxSchemaEntry& entry, const NvtxSchema& schema, int nesting) const {
    const std::uint64_t array = entry.flags & array_flags;
    if ((entry.flags & indirect_flags) != 0 ||
        (array != 0 && array != NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE))
      return {};
    Layout one = layout(entry.type, nesting);
    std::uint64_t count = array == 0 ? 1 : entry.detail;
    if (const std::size_t character = character_size(entry.type)) {
      one = {character, character};
      count = entry.detail;  // 0: a pointer
    }
    if (count > SIZE_MAX / 2 / std::max<std::size_t>(one.size, 1)) return {};
    one.size *= count;
    if (schema.pack != 0) one.align = std::min(one.align, schema.pack);
    return one;
  }

  static std::size_t offset(const NvtxSchemaEntry& entry, bool first, std::size_t end,
                            std::size_t align) {
    if (first || entry.offset != 0) return entry.offset;
    return (end + align - 1) / align * align;
  }

  static Json enumerator(std::uint64_t type, const NvtxSchema& schema, Bytes bytes) {
    std::uint64_t value = 0;
    if (schema.size == 0 || schema.size > sizeof(value) || bytes.size() < schema.size)
      return nvtx_opaque_payload(type, bytes.size());
    std::memcpy(&value, bytes.data(), schema.size);  // little endian
    const auto name = schema.values.find(value);
    if (name == schema.values.end()) return value;
    return nvtx_utf8(name->second);
  }

  const NvtxSchemas& schemas_;
  const std::function<std::string_view(std::uint64_t)>& registered_;
};

}  // namespace

std::size_t nvtx_type_size(const NvtxSchemas& schemas, std::uint64_t type) {
  return Reader(schemas, {}).layout(type, 0).size;
}

Json nvtx_payload_json(const NvtxSchemas& schemas, std::uint64_t schema,
                       std::span<const std::byte> bytes,
                       const std::function<std::string_view(std::uint64_t)>& registered) {
  return Reader(schemas, registered).read(schema, bytes, 0);
}

Json nvtx_opaque_payload(std::uint64_t schema, std::uint64_t bytes) {
  Json opaque = {{"schema", schema}, {"bytes", nullptr}};
  if (bytes != SIZE_MAX) opaque["bytes"] = bytes;
  return opaque;
}

}  // namespace warpmeter
