// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A CUPTI client as NVIDIA's documentation describes it, injected at cuInit. Everything that it is
// told goes to the file CLIENT_OUTPUT (with the process id behind it), a JSON object per line.
// CLIENT_MODE: not set for callbacks and activity records; else pm, user_range or auto_range.
#include "tests/emulator/driver/client.h"

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

namespace client {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void write(const Json& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::ofstream(variable("CLIENT_OUTPUT") + "." + std::to_string(getpid()), std::ios::app)
      << line.dump() << "\n";
}

CUptiResult check(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) write({{"error", call}, {"result", static_cast<int>(result)}});
  return result;
}

}  // namespace client

namespace {

using client::check;
using client::Json;
using client::variable;
using client::write;

std::size_t buffer_bytes() {
  const std::string bytes = variable("CLIENT_BUFFER");
  return bytes.empty() ? 1 << 20 : static_cast<std::size_t>(std::atol(bytes.c_str()));
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  static int left =
      variable("CLIENT_BUFFERS").empty() ? 1 << 30 : std::atoi(variable("CLIENT_BUFFERS").c_str());
  *records = 0;
  *size = buffer_bytes();
  *buffer = left-- > 0 ? static_cast<std::uint8_t*>(std::aligned_alloc(8, *size)) : nullptr;
}

template <typename Record>
Json device_work(const Record& record) {
  return {{"start", record.start},     {"end", record.end},
          {"device", record.deviceId}, {"context", record.contextId},
          {"stream", record.streamId}, {"correlation", record.correlationId},
          {"graph", record.graphId},   {"node", record.graphNodeId}};
}

Json json_of(const CUpti_Activity* activity) {
  Json json;
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityKernel10*>(activity);
      json = device_work(record);
      json["name"] = record.name;
      json["grid"] = {record.gridX, record.gridY, record.gridZ};
      json["block"] = {record.blockX, record.blockY, record.blockZ};
      json["static_shared"] = record.staticSharedMemory;
      json["dynamic_shared"] = record.dynamicSharedMemory;
      json["registers"] = record.registersPerThread;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(activity);
      json = device_work(record);
      json["bytes"] = record.bytes;
      json["copy_kind"] = record.copyKind;
      json["from"] = record.srcKind;
      json["to"] = record.dstKind;
      json["flags"] = record.flags;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityMemset4*>(activity);
      json = device_work(record);
      json["bytes"] = record.bytes;
      json["value"] = record.value;
      json["flags"] = record.flags;
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityAPI*>(activity);
      const char* name = "";
      cuptiGetCallbackName(activity->kind == CUPTI_ACTIVITY_KIND_RUNTIME
                               ? CUPTI_CB_DOMAIN_RUNTIME_API
                               : CUPTI_CB_DOMAIN_DRIVER_API,
                           record.cbid, &name);
      json = {{"cbid", record.cbid},
              {"start", record.start},
              {"end", record.end},
              {"thread", record.threadId},
              {"correlation", record.correlationId},
              {"result", record.returnValue},
              {"name", name}};
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto& record = *reinterpret_cast<const CUpti_ActivitySynchronization2*>(activity);
      json = {{"type", record.type},       {"start", record.start},
              {"end", record.end},         {"correlation", record.correlationId},
              {"stream", record.streamId}, {"context", record.contextId}};
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(activity);
      json = {{"external", record.externalId}, {"correlation", record.correlationId}};
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityDevice5*>(activity);
      json = {{"name", record.name}, {"sms", record.numMultiprocessors}};
      break;
    }
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto& record = *reinterpret_cast<const CUpti_ActivityContext3*>(activity);
      json = {{"context", record.contextId}, {"null_stream", record.nullStreamId}};
      break;
    }
    default:
      break;
  }
  json["kind"] = static_cast<int>(activity->kind);
  return json;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                 std::size_t valid) {
  CUpti_Activity* record = nullptr;
  std::size_t count = 0;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    write(json_of(record));
    ++count;
  }
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  write({{"buffer", size},
         {"valid", valid},
         {"records", count},
         {"dropped", dropped},
         {"on_thread", static_cast<int>(::gettid())}});
  std::free(buffer);
  const std::string file = variable("CLIENT_SIGNAL");
  if (!file.empty()) std::ofstream(file) << "delivered\n";
}

void on_api(const char* domain, CUpti_CallbackId cbid, const CUpti_CallbackData& data) {
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  std::uint64_t time = 0;
  cuptiGetTimestamp(&time);
  if (enter) *data.correlationData = time;
  write({{"callback", domain},
         {"cbid", cbid},
         {"enter", enter},
         {"function", data.functionName},
         {"symbol", data.symbolName == nullptr ? "" : data.symbolName},
         {"correlation", data.correlationId},
         {"enter_time", *data.correlationData},
         {"time", time},
         {"thread", static_cast<int>(::gettid())}});
}

void on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) {
  Json json{{"callback", "resource"}, {"cbid", cbid}};
  std::uint32_t id = 0;
  if (data.context != nullptr && cuptiGetContextId(data.context, &id) == CUPTI_SUCCESS) {
    json["context"] = id;
  }
  const auto* const graph = static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
  if (graph != nullptr) {
    std::uint64_t node = 0;
    if (cuptiGetGraphId(graph->graph, &id) == CUPTI_SUCCESS) json["graph"] = id;
    if (cuptiGetGraphNodeId(graph->node, &node) == CUPTI_SUCCESS) json["node"] = node;
    if (cuptiGetGraphNodeId(graph->originalNode, &node) == CUPTI_SUCCESS) json["original"] = node;
    if (cuptiGetGraphExecId(graph->graphExec, &id) == CUPTI_SUCCESS) json["exec"] = id;
  }
  if (data.resourceHandle.stream != nullptr &&
      cuptiGetStreamIdEx(data.context, data.resourceHandle.stream, 0, &id) == CUPTI_SUCCESS) {
    json["stream"] = id;
  }
  json["thread"] = static_cast<int>(::gettid());
  write(json);
}

void on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    on_api(domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime" : "driver", cbid,
           *static_cast<const CUpti_CallbackData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    on_resource(cbid, *static_cast<const CUpti_ResourceData*>(data));
  } else {
    write({{"callback", "other"}, {"domain", static_cast<int>(domain)}, {"cbid", cbid}});
  }
}

CUpti_SubscriberHandle subscriber = nullptr;

bool subscribe() {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUpti_SubscriberParams params{CUpti_SubscriberParams_STRUCT_SIZE, "test", holder, sizeof holder};
  const CUptiResult result = cuptiSubscribe_v2(&subscriber, on_callback, nullptr, &params);
  if (check(result, "subscribe") == CUPTI_SUCCESS) return true;
  write({{"holder", holder}});
  return false;
}

void trace() {
  if (!subscribe()) return;
  CUpti_SubscriberHandle second = nullptr;
  write({{"second", static_cast<int>(cuptiSubscribe(&second, on_callback, nullptr))}});
  for (const CUpti_CallbackDomain domain :
       {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE,
        CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_STATE}) {
    check(cuptiEnableDomain(1, subscriber, domain), "domain");
  }
  check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "callbacks");
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DEVICE,
        CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION}) {
    check(cuptiActivityEnable(kind), "enable");
  }
  const std::string period = variable("CLIENT_PERIOD");
  if (!period.empty()) {
    cuptiActivityFlushPeriod(static_cast<std::uint32_t>(std::atoi(period.c_str())));
  }
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 11);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 12);
  std::atexit([] {
    check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush");
    std::size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    write({{"finished", true}, {"dropped", dropped}});
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  std::uint32_t version = 0;
  cuptiGetVersion(&version);
  // cuInit runs this, and may be called in here.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* const init = reinterpret_cast<CUresult (*)(unsigned int)>(dlsym(driver, "cuInit"));
  write({{"injected", true}, {"version", version}, {"init", static_cast<int>(init(0))}});
  if (client::variable("CLIENT_MODE").empty()) {
    trace();
  } else {
    client::profile(variable("CLIENT_MODE"));
  }
  return 1;
}
