// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/launch_count.h"

#include "collectors/launch_calls.h"

namespace warpmeter {

LaunchCount::LaunchCount(Subscription& subscription) : subscription_(subscription) {
  subscription_.listen([this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data == nullptr) return;
    if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_ENTER) return;
    const LaunchCall* call = find_launch_call(driver_launch_calls(), id);
    if (call != nullptr && call->kernels) count_.fetch_add(1, std::memory_order_relaxed);
  });
}

// Those of the driver alone: the runtime's launches come there too.
void LaunchCount::enable(bool on) {
  for (const LaunchCall& call : driver_launch_calls())
    if (call.kernels) subscription_.enable(this, CUPTI_CB_DOMAIN_DRIVER_API, call.id, on);
}

}  // namespace warpmeter
