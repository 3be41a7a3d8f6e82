// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// An NVTX event between the callback that delivers it and the collector that writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpmeter {

enum class NvtxKind : std::uint8_t { push_pop, start_end, mark };

// How a payload is kept: plain numbers as their bits; `blobs` is a row of NvtxBlob, each followed
// by its bytes, which NvtxNames::payload reads by their schemas.
enum class NvtxPayload : std::uint8_t { none, int64, uint64, float64, blobs };

struct NvtxBlob {
  std::uint64_t schema;
  std::uint64_t declared;  // bytes that the program says it has; SIZE_MAX: not known
  std::uint64_t kept;      // bytes that follow
};

inline constexpr std::size_t nvtx_max_message = 4096;  // bytes; the rest is cut and counted
inline constexpr std::size_t nvtx_max_payload = 4096;  // bytes of all blobs of an event

// As the program gave it; what it points to lives as long as the call.
struct NvtxEvent {
  std::uint32_t domain = 0;      // 0: the default domain
  std::uint32_t category = 0;    // 0: none
  std::uint32_t registered = 0;  // a registered string; 0: `message`
  std::string_view message;      // UTF-8, or what the program takes for it
  bool cut = false;              // `message` was longer
  NvtxPayload form = NvtxPayload::none;
  std::uint64_t bits = 0;              // of a plain payload
  std::span<const std::byte> payload;  // of the others
};

enum class NvtxRecordType : std::uint32_t { begin, end, forget };

// In a stream's buffer; `bytes` includes this and what follows it.
struct NvtxRecordHead {
  std::uint32_t bytes = 0;
  NvtxRecordType type = NvtxRecordType::begin;
  std::uint64_t token = 0;
};

// Followed by the message and the payload.
struct NvtxBegin {
  NvtxRecordHead head;
  std::uint64_t parent = 0;  // token; 0: outermost
  std::int64_t start_ns = 0;
  std::uint64_t bits = 0;
  std::int32_t thread = 0;
  std::uint32_t domain = 0, category = 0, registered = 0;
  std::uint32_t message = 0, payload = 0;  // bytes
  NvtxKind kind = NvtxKind::push_pop;
  NvtxPayload form = NvtxPayload::none;
};

struct NvtxEnd {
  NvtxRecordHead head;
  std::int64_t end_ns = 0;  // of `forget` without meaning: it will never end, its thread is gone
  std::uint64_t asked = 0;  // 1: nvtx_current_range() has told its token to somebody
};

}  // namespace warpmeter
