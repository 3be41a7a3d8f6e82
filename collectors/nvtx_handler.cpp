// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_handler.h"

#include <cwchar>

#include "collectors/nvtx_given.h"
#include "collectors/nvtx_recorder.h"
#include "collectors/nvtx_text.h"

namespace warpmeter {
namespace {

NvtxRecorder& recorder() { return NvtxRecorder::instance(); }

// Nothing is thrown into the program.
template <typename Result, typename Call>
Result guarded(Result otherwise, Call&& call) noexcept {
  try {
    return call();
  } catch (...) {
    recorder().failed();
    return otherwise;
  }
}

template <typename Call>
void guarded(Call&& call) noexcept {
  guarded(0, [&] { return call(), 0; });
}

template <typename Handle>
Handle handle(std::uint32_t number) {
  return reinterpret_cast<Handle>(std::uintptr_t{number});
}

// --- what NVTX calls: CORE, which is the default domain, and CORE2 ---

template <typename Text>
void NVTX_API mark(Text text) {
  guarded([&] { recorder().mark(NvtxGiven(0, text)); });
}
template <typename Text>
int NVTX_API push(Text text) {
  return guarded(-2, [&] { return recorder().push(NvtxGiven(0, text)); });
}
template <typename Text>
nvtxRangeId_t NVTX_API start(Text text) {
  return guarded(nvtxRangeId_t{0}, [&] { return recorder().start(NvtxGiven(0, text)); });
}
int NVTX_API pop() {
  return guarded(-2, [] { return recorder().pop(0); });
}
void NVTX_API end(nvtxRangeId_t id) {
  guarded([&] { recorder().end(id); });
}

void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  guarded([&] { recorder().mark(NvtxGiven(nvtx_number(domain), event)); });
}
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return guarded(-2, [&] { return recorder().push(NvtxGiven(nvtx_number(domain), event)); });
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  return guarded(-2, [&] { return recorder().pop(nvtx_number(domain)); });
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return guarded(nvtxRangeId_t{0},
                 [&] { return recorder().start(NvtxGiven(nvtx_number(domain), event)); });
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }

std::string utf8(const char* text) { return text ? nvtx_utf8(std::string_view(text)) : ""; }
std::string utf8(const wchar_t* text) {
  return text ? nvtx_utf8(std::u32string(text, text + std::wcslen(text))) : "";
}

template <typename Char>
nvtxDomainHandle_t NVTX_API create_domain(const Char* name) {
  return guarded(nvtxDomainHandle_t{},
                 [&] { return handle<nvtxDomainHandle_t>(recorder().names.domain(utf8(name))); });
}
// Its ranges may still be open, and it may be created again.
void NVTX_API destroy_domain(nvtxDomainHandle_t) {}

template <typename Char>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const Char* text) {
  return guarded(nvtxStringHandle_t{}, [&] {
    return handle<nvtxStringHandle_t>(recorder().names.register_string(utf8(text)));
  });
}
template <typename Char>
void NVTX_API domain_name_category(nvtxDomainHandle_t domain, std::uint32_t category,
                                   const Char* name) {
  guarded([&] { recorder().names.name_category(nvtx_number(domain), category, utf8(name)); });
}
template <typename Char>
void NVTX_API name_category(std::uint32_t category, const Char* name) {
  domain_name_category(nullptr, category, name);
}
template <typename Char>
void NVTX_API name_thread(std::uint32_t thread, const Char* name) {
  guarded([&] { recorder().names.name_thread(thread, utf8(name)); });
}

// --- the payload extension ---

std::uint64_t NVTX_API register_schema(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* given) {
  return guarded(std::uint64_t{0}, [&] {
    const auto has = [&](std::uint64_t field) { return (given->fieldMask & field) != 0; };
    if (given == nullptr || !has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES)) return std::uint64_t{0};
    NvtxSchema schema;
    if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) schema.name = utf8(given->name);
    schema.type =
        has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE) ? given->type : NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) schema.size = given->payloadStaticSize;
    if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) schema.pack = given->packAlign;
    for (std::size_t i = 0; i < given->numEntries; ++i) {
      const nvtxPayloadSchemaEntry_t& entry = given->entries[i];
      schema.entries.push_back(
          {entry.flags, entry.type, utf8(entry.name), entry.arrayOrUnionDetail, entry.offset});
    }
    return recorder().names.register_schema(
        std::move(schema), has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? given->schemaId : 0);
  });
}

std::uint64_t NVTX_API register_enum(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t* given) {
  return guarded(std::uint64_t{0}, [&] {
    const auto has = [&](std::uint64_t field) { return (given->fieldMask & field) != 0; };
    if (given == nullptr || !has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES)) return std::uint64_t{0};
    NvtxSchema schema;
    if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) schema.name = utf8(given->name);
    schema.size = has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? given->sizeOfEnum : sizeof(int);
    for (std::size_t i = 0; i < given->numEntries; ++i)
      schema.values.emplace(given->entries[i].value, utf8(given->entries[i].name));
    return recorder().names.register_schema(
        std::move(schema), has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) ? given->schemaId : 0);
  });
}

// --- where NVTX looks for them ---

class Table {
 public:
  Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (!callbacks.GetModuleFunctionTable(module, &slots_, &size_)) size_ = 0;
  }
  bool empty() const { return size_ == 0; }
  template <typename Function>
  void set(unsigned id, Function* function) {
    if (id <= size_) *slots_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable slots_ = nullptr;
  unsigned size_ = 0;  // of the last slot
};

void fill_core(Table& table) {
  table.set(NVTX_CBID_CORE_MarkEx, mark<const nvtxEventAttributes_t*>);
  table.set(NVTX_CBID_CORE_MarkA, mark<const char*>);
  table.set(NVTX_CBID_CORE_MarkW, mark<const wchar_t*>);
  table.set(NVTX_CBID_CORE_RangeStartEx, start<const nvtxEventAttributes_t*>);
  table.set(NVTX_CBID_CORE_RangeStartA, start<const char*>);
  table.set(NVTX_CBID_CORE_RangeStartW, start<const wchar_t*>);
  table.set(NVTX_CBID_CORE_RangeEnd, end);
  table.set(NVTX_CBID_CORE_RangePushEx, push<const nvtxEventAttributes_t*>);
  table.set(NVTX_CBID_CORE_RangePushA, push<const char*>);
  table.set(NVTX_CBID_CORE_RangePushW, push<const wchar_t*>);
  table.set(NVTX_CBID_CORE_RangePop, pop);
  table.set(NVTX_CBID_CORE_NameCategoryA, name_category<char>);
  table.set(NVTX_CBID_CORE_NameCategoryW, name_category<wchar_t>);
  table.set(NVTX_CBID_CORE_NameOsThreadA, name_thread<char>);
  table.set(NVTX_CBID_CORE_NameOsThreadW, name_thread<wchar_t>);
}

void fill_core2(Table& table) {
  table.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  table.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  table.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  table.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  table.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  table.set(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category<char>);
  table.set(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category<wchar_t>);
  table.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>);
  table.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>);
  table.set(NVTX_CBID_CORE2_DomainCreateA, create_domain<char>);
  table.set(NVTX_CBID_CORE2_DomainCreateW, create_domain<wchar_t>);
  table.set(NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
}

}  // namespace

bool nvtx_built_in() noexcept { return true; }

int initialize_nvtx(const void* (*get_export_table)(std::uint32_t)) noexcept {
  return guarded(0, [&] {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr) return 0;
    Table core(*callbacks, NVTX_CB_MODULE_CORE);
    Table core2(*callbacks, NVTX_CB_MODULE_CORE2);
    if (core.empty() && core2.empty()) return 0;
    fill_core(core);
    fill_core2(core2);
    return 1;
  });
}

int initialize_nvtx_extension(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID ||
      module->segmentsCount == 0)
    return 0;
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  const auto set = [&](std::size_t id, auto* function) {
    if (id < segment.slotCount)
      segment.functionSlots[id] = reinterpret_cast<std::intptr_t>(function);
  };
  set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
  set(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum);
  return 1;
}

}  // namespace warpmeter
