// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_given.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <cwchar>

#include "collectors/nvtx_recorder.h"
#include "collectors/nvtx_text.h"

namespace warpmeter {

void NvtxGiven::say(const char* text) {
  if (text == nullptr) return;
  // One byte more tells whether there is more.
  keep(std::string_view(text, ::strnlen(text, nvtx_max_message + 1)));
}

void NvtxGiven::say(const wchar_t* text) {
  if (text == nullptr) return;
  const std::u32string wide(text, text + ::wcsnlen(text, nvtx_max_message + 1));
  narrow_ = nvtx_utf8(wide);
  keep(narrow_);
}

void NvtxGiven::keep(std::string_view text) {
  message = nvtx_cut(text, nvtx_max_message);
  cut = message.size() < text.size();
}
NvtxGiven::NvtxGiven(std::uint32_t in, const nvtxEventAttributes_t* given) : NvtxGiven(in) {
  if (given == nullptr) return;
  category = given->category;
  switch (given->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      say(given->message.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      say(given->message.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      registered = nvtx_number(given->message.registered);
      break;
    default:
      break;
  }
  attach(*given);
}

void NvtxGiven::attach(const nvtxEventAttributes_t& given) {
  const auto plain = [this](NvtxPayload as, std::uint64_t value) {
    form = as;
    bits = value;
  };
  switch (given.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return plain(NvtxPayload::uint64, given.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
      return plain(NvtxPayload::int64, given.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return plain(NvtxPayload::float64, given.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return plain(NvtxPayload::uint64, given.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32:
      return plain(NvtxPayload::int64, static_cast<std::uint64_t>(given.payload.iValue));
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return plain(NvtxPayload::float64,
                   std::bit_cast<std::uint64_t>(double{given.payload.fValue}));
    case NVTX_PAYLOAD_TYPE_EXT:
      if (given.reserved0 > 0)
        take(reinterpret_cast<const nvtxPayloadData_t*>(given.payload.ullValue),
             static_cast<std::size_t>(given.reserved0));
      return;
    default:
      return;
  }
}

void NvtxGiven::take(const nvtxPayloadData_t* data, std::size_t count) {
  if (data == nullptr) return;
  std::size_t room = nvtx_max_payload;
  for (const nvtxPayloadData_t& one : std::span(data, std::min<std::size_t>(count, 16))) {
    NvtxBlob blob{one.schemaId, one.size, 0};
    if (blob.declared == SIZE_MAX && one.payload != nullptr) {
      if (one.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ||
          one.schemaId == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8)
        blob.declared = ::strnlen(static_cast<const char*>(one.payload), room);
      else if (const std::size_t size = NvtxRecorder::instance().names.schema_size(one.schemaId);
               size != 0)
        blob.declared = size;
    }
    if (one.payload != nullptr && blob.declared <= room) blob.kept = blob.declared;
    const auto append = [this](const void* from, std::size_t bytes) {
      const auto* begin = static_cast<const std::byte*>(from);
      blobs_.insert(blobs_.end(), begin, begin + bytes);
    };
    append(&blob, sizeof(blob));
    if (blob.kept != 0) append(one.payload, blob.kept);
    room -= blob.kept;
  }
  form = NvtxPayload::blobs;
  payload = blobs_;
}

}  // namespace warpmeter
