// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A program with NVTX ranges of every kind, by the C and the C++ interface. The argument says what
// to do; nvtx_test.py knows what must be found.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

nvtxEventAttributes_t event(const char* message) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

void core() {
  nvtxNameCategoryA(7, "seven");
  nvtxNameOsThreadA(static_cast<std::uint32_t>(::gettid()), "main thread");
  expect(nvtxRangePushA("outer") == 0, "level 0");
  expect(nvtxRangePushW(L"wide \u00e4\u20ac\U0001F600") == 1, "level 1");
  nvtxMarkA("mark A");
  nvtxMarkW(L"mark W");
  expect(nvtxRangePop() == 1, "level 1 ends");
  auto attributes = event("with category");
  attributes.category = 7;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = -5;
  nvtxRangePushEx(&attributes);
  nvtxRangePop();
  attributes = event("unnamed category");
  attributes.category = 8;
  nvtxMarkEx(&attributes);
  expect(nvtxRangePop() == 0, "level 0 ends");
  expect(nvtxRangePop() < 0, "nothing to pop");

  const nvtxRangeId_t a = nvtxRangeStartA("start A");
  const nvtxRangeId_t w = nvtxRangeStartW(L"start W");
  std::thread([&] { nvtxRangeEnd(a); }).join();
  nvtxRangeEnd(w);
  nvtxRangeEnd(w);
  nvtxRangeStartA("never ended");
  nvtxRangePushA("never popped");
  nvtxRangePushA("bad \xff\xc3 bytes \xed\xa0\x80.");
  nvtxRangePop();
  nvtxRangePushA((std::string(4095, 'x') + "\xc3\xa4" + "tail").c_str());  // cut before the letter
  nvtxRangePop();
}

void domains() {
  const nvtxDomainHandle_t one = nvtxDomainCreateA("one");
  const nvtxDomainHandle_t two = nvtxDomainCreateW(L"tw\u00f6");
  expect(one != two && nvtxDomainCreateA("one") == one, "domains by name");
  nvtxDomainNameCategoryW(two, 7, L"seven of two");
  auto attributes = event("a");
  nvtxDomainRangePushEx(one, &attributes);
  attributes = event("b");
  attributes.category = 7;
  nvtxDomainRangePushEx(two, &attributes);
  attributes = event("a.a");
  attributes.category = 7;
  nvtxDomainRangePushEx(one, &attributes);
  nvtxDomainMarkEx(two, &attributes);
  expect(nvtxDomainRangePop(two) == 0, "b ends before a.a");
  expect(nvtxDomainRangePop(one) == 1, "a.a ends");
  attributes = event(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(one, "registered");
  expect(nvtxDomainRegisterStringA(one, "registered") == attributes.message.registered, "once");
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(one, &attributes);
  attributes.message.registered = nvtxDomainRegisterStringW(one, L"r\u00e9gistered");
  nvtxDomainMarkEx(one, &attributes);
  attributes.message.registered = reinterpret_cast<nvtxStringHandle_t>(0x12345678);
  nvtxDomainMarkEx(one, &attributes);
  nvtxDomainRangeEnd(one, id);
  nvtxDomainRangePop(one);
  nvtxDomainDestroy(one);
}

struct Cpp {
  static constexpr const char* name = "cpp";
};
struct CppCategory {
  static constexpr const char* name = "cpp category";
  static constexpr std::uint32_t id = 3;
};
struct CppMessage {
  static constexpr const char* message = "cpp registered";
};

void cpp() {
  const nvtx3::scoped_range_in<Cpp> outer("cpp outer");
  {
    const nvtx3::scoped_range_in<Cpp> inner(nvtx3::registered_string_in<Cpp>::get<CppMessage>(),
                                            nvtx3::named_category_in<Cpp>::get<CppCategory>(),
                                            nvtx3::payload{2.5});
    nvtx3::mark_in<Cpp>("cpp mark", nvtx3::payload{std::uint32_t{4000000000}});
  }
  nvtx3::unique_range_in<Cpp> moved("cpp unique");
  std::thread([range = std::move(moved)] {}).join();
}

void threads() {
  const auto work = [](int number) {
    for (int i = 0; i < 1000; ++i) {
      const std::string name = "thread " + std::to_string(number);
      nvtxRangePushA(name.c_str());
      nvtxRangePushA("inner");
      nvtxRangePop();
      nvtxRangePop();
    }
    nvtxRangePushA("left open");
  };
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) all.emplace_back(work, 8 * round + i);
    for (std::thread& one : all) one.join();
  }
}

enum Direction : std::int32_t { to = 1, from = 2 };

struct Inner {
  std::int16_t x;
  double y;
};

struct Outer {
  std::uint8_t byte;
  std::int32_t shape[3];
  float real;
  char text[8];
  Direction direction;
  std::uint64_t name;  // a registered string
  Inner inner;
  const char* pointer;
  double nothing;
};

void payloads() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("payload");
  const auto entry = [](std::uint64_t type, const char* name, std::uint64_t flags = 0,
                        std::uint64_t length = 0) {
    nvtxPayloadSchemaEntry_t e = {};
    e.type = type;
    e.name = name;
    e.flags = flags;
    e.arrayOrUnionDetail = length;
    return e;
  };
  const auto schema = [&](std::vector<nvtxPayloadSchemaEntry_t> entries, std::size_t size,
                          std::uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                          std::uint64_t id = 0) {
    nvtxPayloadSchemaAttr_t attributes = {};
    attributes.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
        (id ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
    attributes.type = type;
    attributes.entries = entries.data();
    attributes.numEntries = entries.size();
    attributes.payloadStaticSize = size;
    attributes.schemaId = id;
    return nvtxPayloadSchemaRegister(domain, &attributes);
  };
  const nvtxPayloadEnum_t names[] = {{"to", to, 0}, {"from", from, 0}};
  nvtxPayloadEnumAttr_t enumeration = {};
  enumeration.fieldMask =
      NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
      NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  enumeration.entries = names;
  enumeration.numEntries = 2;
  enumeration.sizeOfEnum = sizeof(Direction);
  enumeration.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  const std::uint64_t direction = nvtxPayloadEnumRegister(domain, &enumeration);
  expect(direction == enumeration.schemaId, "the program's own id");
  const std::uint64_t inner = schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "y")},
      sizeof(Inner));
  std::vector<nvtxPayloadSchemaEntry_t> entries = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "byte"),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "shape", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, nullptr),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", 0, 8),
      entry(direction, "direction"),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name"),
      entry(inner, "inner"),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "pointer", NVTX_PAYLOAD_ENTRY_FLAG_POINTER),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "nothing"),
  };
  entries.back().offset = offsetof(Outer, nothing);
  const std::uint64_t outer = schema(entries, sizeof(Outer));
  const std::uint64_t either =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "a")}, 4, NVTX_PAYLOAD_SCHEMA_TYPE_UNION);

  Outer value = {200, {-1, 2, 3}, 0.5F, "seven\xff", from, 0, {-7, 1.25}, nullptr, 0.0};
  value.name = reinterpret_cast<std::uintptr_t>(nvtxDomainRegisterStringA(domain, "by handle"));
  value.nothing = std::strtod("nan", nullptr);
  const auto mark = [&](const char* name, std::vector<nvtxPayloadData_t> data) {
    auto attributes = event(name);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = static_cast<std::int32_t>(data.size());
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(data.data());
    nvtxDomainMarkEx(domain, &attributes);
  };
  const std::int64_t scalar = -9;
  const std::vector<char> large(5000, 'y');
  mark("struct", {{outer, sizeof(value), &value}});
  mark("size not said", {{outer, SIZE_MAX, &value}});
  mark("too short", {{outer, 4, &value}});
  mark("two", {{NVTX_PAYLOAD_ENTRY_TYPE_INT64, 8, &scalar},
               {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "text"}});
  mark("union", {{either, 4, &scalar}});
  mark("unknown", {{77777777, 8, &scalar}});
  mark("large", {{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, large.size(), large.data()}});
}

void forks() {
  nvtxRangePushA("before");
  const pid_t child = ::fork();
  if (child == 0) {
    nvtxRangePushA("in the child");
    nvtxRangePop();
    nvtxRangePop();  // of the parent's
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(status == 0, "the child ends well");
  nvtxRangePushA("in the parent");
  nvtxRangePop();
  nvtxRangePop();
}

void late() {
  const nvtxRangeId_t started = nvtxRangeStartA("started before");
  nvtxRangeEnd(nvtxRangeStartA("not seen"));
  nvtxRangePushA("pushed before");
  nvtxRangePushA("not seen");
  nvtxRangePop();
  nvtxRangePushA("arms");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(started);
}

void flood() {
  for (int i = 0; i < 200000; ++i) {
    nvtxRangePushA("flood");
    nvtxRangePop();
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  if (what == "core") core();
  if (what == "domains") domains();
  if (what == "cpp") cpp();
  if (what == "threads") threads();
  if (what == "payloads") payloads();
  if (what == "forks") forks();
  if (what == "late") late();
  if (what == "flood") flood();
  return 0;
}
