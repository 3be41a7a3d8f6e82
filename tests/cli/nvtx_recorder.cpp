// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A tool as NVTX loads it (NVTX_INJECTION64_PATH), which writes what it is told, one JSON object a
// line, to the file of the variable WARPMETER_NVTX_RECORD: {"domain": name, "push": message,
// "schema": name, "payload": {...}} and {"pop": true}. Payloads are read by their schemas alone.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

struct Entry {
  std::string name;
  std::uint64_t type, length, offset;
};

struct Schema {
  std::string name;
  std::uint64_t type = 0;
  std::size_t size = 0;
  std::vector<Entry> entries;
};

struct Recorder {
  std::mutex mutex;
  std::deque<std::string> domains;
  std::map<std::uint64_t, Schema> schemas;
  std::ofstream out{std::getenv("WARPMETER_NVTX_RECORD"), std::ios::app};

  void write(const Json& line) { out << line.dump() << std::endl; }
};

Recorder& recorder() {
  static Recorder& one = *new Recorder;  // never destroyed: ranges may end at exit
  return one;
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

Json read(const Schema& schema, const nvtxPayloadData_t& data) {
  if (data.size != schema.size) return "the payload's size is not the schema's";
  Json fields = Json::object();
  for (const Entry& entry : schema.entries) {
    const std::byte* at = static_cast<const std::byte*>(data.payload) + entry.offset;
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING) {
      const char* text = reinterpret_cast<const char*>(at);
      fields[entry.name] = std::string(text, strnlen(text, entry.length));
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_INT64) {
      fields[entry.name] = load<std::int64_t>(at);
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UINT64) {
      fields[entry.name] = load<std::uint64_t>(at);
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE) {
      fields[entry.name] = load<double>(at);
    } else {
      fields[entry.name] = "type " + std::to_string(entry.type);
    }
  }
  return fields;
}

// --- what NVTX calls ---

nvtxDomainHandle_t NVTX_API domain_create(const char* name) {
  const std::lock_guard lock(recorder().mutex);
  return reinterpret_cast<nvtxDomainHandle_t>(&recorder().domains.emplace_back(name));
}

int NVTX_API range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(recorder().mutex);
  Json line = {{"domain", *reinterpret_cast<const std::string*>(domain)},
               {"push", event->messageType == NVTX_MESSAGE_TYPE_ASCII ? event->message.ascii : ""}};
  if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT && event->reserved0 == 1) {
    const auto& data = *reinterpret_cast<const nvtxPayloadData_t*>(event->payload.ullValue);
    const Schema& schema = recorder().schemas[data.schemaId];
    line["schema"] = schema.name;
    line["payload"] = read(schema, data);
  }
  recorder().write(line);
  return 0;
}

int NVTX_API range_pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(recorder().mutex);
  recorder().write({{"pop", true}});
  return 0;
}

std::uint64_t NVTX_API schema_register(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* given) {
  const std::lock_guard lock(recorder().mutex);
  const std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + recorder().schemas.size();
  Schema& schema = recorder().schemas[id];
  schema = {given->name, given->type, given->payloadStaticSize, {}};
  for (std::size_t i = 0; i < given->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = given->entries[i];
    schema.entries.push_back({entry.name, entry.type, entry.arrayOrUnionDetail, entry.offset});
  }
  return id;
}

template <typename Function>
NvtxFunctionPointer erased(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = erased(domain_create);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = erased(range_push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = erased(range_pop);
  return 1;
}

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  module->segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(schema_register);
  return 1;
}
}
