// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the runtime tells goes to callbacks, records and counters.
#include "emulator/driver/cupti_state.h"

#include <cstdlib>
#include <cstring>

#include "emulator/driver/cupti_buffers.h"
#include "emulator/driver/cupti_callbacks.h"
#include "emulator/driver/cupti_counting.h"
#include "emulator/driver/cupti_records.h"

namespace emulator {
namespace {

// The runtime launches through this function of the driver.
std::uint32_t driver_cbid(const ApiSite& site) {
  const LaunchCall& launch = site.launch;
  if (launch.function == nullptr && launch.exec == nullptr) return 0;
  const bool per_thread = std::strstr(site.function, "_ptsz") != nullptr;
#define FORM(name) \
  (per_thread ? CUPTI_DRIVER_TRACE_CBID_##name##_ptsz : CUPTI_DRIVER_TRACE_CBID_##name)
  if (launch.exec != nullptr) return FORM(cuGraphLaunch);
  if (launch.extended) return FORM(cuLaunchKernelEx);
  if (launch.cooperative) return FORM(cuLaunchCooperativeKernel);
  return FORM(cuLaunchKernel);
#undef FORM
}

void enter(ApiSite& site) {
  site.correlation = ++state().correlation;
  call_back_api(site, CUPTI_CB_DOMAIN_RUNTIME_API, runtime_cbid(site.function), CUPTI_API_ENTER);
  const std::uint32_t inner = driver_cbid(site);
  if (inner != 0) call_back_api(site, CUPTI_CB_DOMAIN_DRIVER_API, inner, CUPTI_API_ENTER);
}

void exit(ApiSite& site) {
  const std::uint32_t outer = runtime_cbid(site.function);
  const std::uint32_t inner = driver_cbid(site);
  record_api(site, outer, site.kernel == nullptr ? 0 : inner);
  if (inner != 0) call_back_api(site, CUPTI_CB_DOMAIN_DRIVER_API, inner, CUPTI_API_EXIT);
  call_back_api(site, CUPTI_CB_DOMAIN_RUNTIME_API, outer, CUPTI_API_EXIT);
  buffers().drain(false);
  serialize(site);
}

void work(const Work& done) {
  record_work(done);
  count_in_samples(done);
  count_in_ranges(done);
}

void synchronized(const Synchronization& synchronization) {
  record_synchronization(synchronization);
  call_back_synchronized(synchronization);
}

void resource(const Resource& what) {
  if (what.kind == Resource::Kind::context_created) record_context(*what.context);
  call_back_resource(what);
}

constexpr Listener the_listener = {enter, exit, work, synchronized, resource};

}  // namespace

Faults::Faults() {
  const char* const variable = std::getenv("WARPMETER_EMULATED_CUPTI");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t equal = item.find('=');
    if (equal == std::string_view::npos) continue;
    values_.emplace(item.substr(0, equal), item.substr(equal + 1));
  }
}

std::uint64_t Faults::number(const char* key, std::uint64_t otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string Faults::text(const char* key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? "" : found->second;
}

const Faults& faults() {
  static const auto* const instance = new Faults();
  return *instance;
}

State& state() {
  static auto* const instance = [] {
    auto* made = new State();
    made->correlation = static_cast<std::uint32_t>(faults().number("correlation"));
    return made;
  }();
  return *instance;
}

void refresh_listener() {
  const State& s = state();
  const bool wanted = s.callback != nullptr || s.kinds.any() || s.runtime_records.any() ||
                      s.driver_records.any() || s.sessions > 0;
  runtime().listen(wanted ? &the_listener : nullptr);
}

}  // namespace emulator
