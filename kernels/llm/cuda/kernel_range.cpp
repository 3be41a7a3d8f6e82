// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/kernel_range.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <cstring>
#include <deque>

namespace warpmeter {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("warpmeter");
  return handle;
}

// Lays out a payload and describes it. All entries are multiples of 8 bytes, so none is padded.
class Layout {
 public:
  void word(const std::string& name, const std::string& value) {
    constexpr std::size_t length = 48;
    entry(name, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, length);
    char text[length] = {};
    std::memcpy(text, value.data(), std::min(value.size(), length - 1));
    append(text, length);
  }
  void number(const std::string& name, std::uint64_t value) {
    entry(name, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 0);
    append(&value, sizeof(value));
  }
  void number(const std::string& name, std::int64_t value) {
    entry(name, NVTX_PAYLOAD_ENTRY_TYPE_INT64, 0);
    append(&value, sizeof(value));
  }
  void number(const std::string& name, double value) {
    entry(name, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, 0);
    append(&value, sizeof(value));
  }

  std::vector<std::byte> bytes;

  std::uint64_t register_as(const std::string& schema_name) const {
    nvtxPayloadSchemaAttr_t schema = {};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema.name = schema_name.c_str();
    schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema.entries = entries_.data();
    schema.numEntries = entries_.size();
    schema.payloadStaticSize = bytes.size();
    return nvtxPayloadSchemaRegister(domain(), &schema);
  }

 private:
  void entry(const std::string& name, std::uint64_t type, std::size_t length) {
    nvtxPayloadSchemaEntry_t entry = {};
    entry.type = type;
    entry.name = names_.emplace_back(name).c_str();
    entry.arrayOrUnionDetail = length;
    entry.offset = bytes.size();
    entries_.push_back(entry);
  }
  void append(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + size);
  }

  std::deque<std::string> names_;
  std::vector<nvtxPayloadSchemaEntry_t> entries_;
};

bool repeats_the_id(const std::string& name) {
  return name == "kernel" || name == "family" || name == "split";
}

}  // namespace

KernelLabel::KernelLabel(const std::string& id, const Parameters& point, const Work& work)
    : enabled_(nvtxDomainIsEnabled(domain()) != 0), message_(id), check_message_(id + " check") {
  if (!enabled_) return;
  Layout layout;
  layout.word("kernel", id);
  for (const auto& [name, value] : point)
    if (const auto* text = std::get_if<std::string>(&value); text && !repeats_the_id(name))
      layout.word(name, *text);
  executions_at_ = layout.bytes.size();
  layout.number("executions", std::uint64_t{0});
  for (const auto& [name, value] : point)
    if (const auto* size = std::get_if<double>(&value))
      layout.number(name, static_cast<std::int64_t>(*size));
  for (const auto& [type, count] : work.ops) layout.number("ops." + type, count);
  layout.number("bytes_read", work.bytes_read);
  layout.number("bytes_written", work.bytes_written);
  layout.number("working_set", work.working_set);
  layout.number("launches", work.launches);
  schema_ = layout.register_as(id);
  payload_ = std::move(layout.bytes);
}

KernelRange::KernelRange(const KernelLabel& label, What what, int executions) {
  if (!label.enabled_) return;
  std::vector<std::byte> payload = label.payload_;
  const auto count = static_cast<std::uint64_t>(executions);
  std::memcpy(payload.data() + label.executions_at_, &count, sizeof(count));
  const nvtxPayloadData_t data = {label.schema_, payload.size(), payload.data()};
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = what == What::check ? label.check_message_.c_str() : label.message_.c_str();
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;  // one payload
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtxDomainRangePushEx(domain(), &event);
  pushed_ = true;
}

KernelRange::~KernelRange() {
  if (pushed_) nvtxDomainRangePop(domain());
}

}  // namespace warpmeter
