// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The callback API: one subscriber.
#include "emulator/driver/cupti_callbacks.h"

#include <cstring>

namespace emulator {
namespace {

CUcontext handle(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}
std::uint32_t id_of(const Context* context) { return context == nullptr ? 0 : context->id; }

CUpti_CallbackIdResource cbid_of(Resource::Kind kind) {
  switch (kind) {
    case Resource::Kind::context_created:
      return CUPTI_CBID_RESOURCE_CONTEXT_CREATED;
    case Resource::Kind::context_destroying:
      return CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
    case Resource::Kind::stream_created:
      return CUPTI_CBID_RESOURCE_STREAM_CREATED;
    case Resource::Kind::stream_destroying:
      return CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
    case Resource::Kind::graph_created:
      return CUPTI_CBID_RESOURCE_GRAPH_CREATED;
    case Resource::Kind::graph_destroying:
      return CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING;
    case Resource::Kind::graph_cloned:
      return CUPTI_CBID_RESOURCE_GRAPH_CLONED;
    case Resource::Kind::node_created:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
    case Resource::Kind::node_cloned:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    case Resource::Kind::exec_creating:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING;
    case Resource::Kind::exec_created:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
    case Resource::Kind::exec_destroying:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING;
  }
  return CUPTI_CBID_RESOURCE_INVALID;
}

// The one subscriber has the handle of the state.
CUpti_SubscriberHandle the_handle() { return reinterpret_cast<CUpti_SubscriberHandle>(&state()); }
bool known(CUpti_SubscriberHandle subscriber) {
  return subscriber == the_handle() && state().callback != nullptr;
}

CUptiResult subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                      void* userdata, CUpti_SubscriberParams* params) {
  EMULATOR_CUPTI_READY();
  if (subscriber == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params != nullptr && params->structSize == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  if (faults().number("init") != 0) return faults().error("init");
  const std::lock_guard lock(state().mutex);
  const std::uint64_t planted = faults().number("subscribe");
  const bool taken = state().callback != nullptr;
  if (planted != 0 || taken) {
    const std::string holder = taken ? state().subscriber : faults().text("subscriber");
    if (params != nullptr && params->oldSubscriberName != nullptr &&
        params->oldSubscriberSize > 0) {
      std::strncpy(params->oldSubscriberName, holder.c_str(), params->oldSubscriberSize - 1);
      params->oldSubscriberName[params->oldSubscriberSize - 1] = '\0';
    }
    return taken ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                 : static_cast<CUptiResult>(planted);
  }
  state().callback = callback;
  state().userdata = userdata;
  state().subscriber = "CUPTI";
  if (params != nullptr && params->subscriberName != nullptr) {
    state().subscriber = std::string("CUPTI for ") + params->subscriberName;
  }
  *subscriber = the_handle();
  refresh_listener();
  return CUPTI_SUCCESS;
}

bool is_domain(CUpti_CallbackDomain domain) {
  return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

void call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    if (!state().enabled[domain].test(cbid)) return;
    callback = state().callback;
    userdata = state().userdata;
  }
  if (callback != nullptr) callback(userdata, domain, cbid, data);
}

}  // namespace

namespace {

// The parameters of the driver's function, as its signature has them.
union DriverParams {
  cuLaunchKernel_params kernel;
  cuLaunchCooperativeKernel_params cooperative;
  cuLaunchKernelEx_params extended;
  cuGraphLaunch_params graph;
};

struct DriverLaunch {
  DriverParams params{};
  CUlaunchConfig config{};
  CUlaunchAttribute attributes[2] = {};

  explicit DriverLaunch(const LaunchCall& launch) {
    auto* const function = static_cast<CUfunction>(const_cast<void*>(launch.function));
    const std::uint32_t* const g = launch.grid;
    const std::uint32_t* const b = launch.block;
    if (launch.exec != nullptr) {
      params.graph = {launch.exec, launch.stream};
    } else if (launch.extended) {
      config = {g[0], g[1], g[2], b[0], b[1], b[2], launch.shared, launch.stream, attributes, 2};
      attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[0].value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
      attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes[1].value.cooperative = launch.cooperative ? 1 : 0;
      params.extended = {&config, function, nullptr, nullptr};
    } else if (launch.cooperative) {
      params.cooperative = {function, g[0], g[1],          g[2],          b[0],
                            b[1],     b[2], launch.shared, launch.stream, nullptr};
    } else {
      params.kernel = {function, g[0],          g[1],          g[2],    b[0],   b[1],
                       b[2],     launch.shared, launch.stream, nullptr, nullptr};
    }
  }
};

}  // namespace

void call_back_api(ApiSite& site, CUpti_CallbackDomain domain, std::uint32_t cbid,
                   CUpti_ApiCallbackSite where) {
  CUpti_CallbackData data{};
  data.callbackSite = where;
  data.functionName =
      domain == CUPTI_CB_DOMAIN_RUNTIME_API ? site.function : callback_name(domain, cbid);
  data.functionReturnValue = where == CUPTI_API_EXIT ? &site.result : nullptr;
  data.symbolName = site.kernel;
  const DriverLaunch launch(site.launch);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) data.functionParams = &launch.params;
  data.context = handle(site.context);
  data.contextUid = id_of(site.context);
  data.correlationData = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? &site.data : &site.driver_data;
  data.correlationId = site.correlation;
  call_subscriber(domain, cbid, &data);
}

void call_back_resource(const Resource& resource) {
  CUpti_GraphData graph{};
  graph.graph = resource.graph;
  graph.originalGraph = resource.original_graph;
  graph.node = resource.node;
  graph.originalNode = resource.original_node;
  graph.nodeType = resource.node_type;
  graph.graphExec = resource.exec;
  CUpti_ResourceData data{};
  data.context = handle(resource.context);
  data.resourceHandle.stream = resource.stream;
  data.resourceDescriptor = resource.graph == nullptr ? nullptr : &graph;
  call_subscriber(CUPTI_CB_DOMAIN_RESOURCE, cbid_of(resource.kind), &data);
}

void call_back_synchronized(const Synchronization& synchronization) {
  const bool stream = synchronization.kind == Synchronization::Kind::stream;
  if (!stream && synchronization.kind != Synchronization::Kind::context) return;
  CUpti_SynchronizeData data{};
  data.context = handle(synchronization.context);
  data.stream = synchronization.handle;
  call_subscriber(CUPTI_CB_DOMAIN_SYNCHRONIZE,
                  stream ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                         : CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
                  &data);
}

}  // namespace emulator

using emulator::state;

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* userdata) {
  return emulator::subscribe(subscriber, callback, userdata, nullptr);
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* userdata, CUpti_SubscriberParams* params) {
  return emulator::subscribe(subscriber, callback, userdata, params);
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  const std::lock_guard lock(state().mutex);
  if (!emulator::known(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
  state().callback = nullptr;
  for (emulator::CallbackSet& domain : state().enabled) domain.reset();
  emulator::refresh_listener();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  EMULATOR_CUPTI_READY();
  const std::lock_guard lock(state().mutex);
  if (!emulator::known(subscriber) || !emulator::is_domain(domain) ||
      cbid >= emulator::callback_ids) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  state().enabled[domain].set(cbid, enable != 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackState(std::uint32_t* enable, CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  const std::lock_guard lock(state().mutex);
  if (enable == nullptr || !emulator::known(subscriber) || !emulator::is_domain(domain) ||
      cbid >= emulator::callback_ids) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *enable = state().enabled[domain].test(cbid);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
  EMULATOR_CUPTI_READY();
  const std::lock_guard lock(state().mutex);
  if (!emulator::known(subscriber) || !emulator::is_domain(domain)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (enable != 0) {
    state().enabled[domain].set();
  } else {
    state().enabled[domain].reset();
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle subscriber) {
  for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    const CUptiResult result =
        cuptiEnableDomain(enable, subscriber, static_cast<CUpti_CallbackDomain>(domain));
    if (result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
