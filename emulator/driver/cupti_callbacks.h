// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "emulator/driver/cupti_state.h"

namespace emulator {

// What the listener is told goes to the subscriber.
void call_back_api(ApiSite& site, CUpti_CallbackDomain domain, std::uint32_t cbid,
                   CUpti_ApiCallbackSite where);
void call_back_resource(const Resource& resource);
void call_back_synchronized(const Synchronization& synchronization);

}  // namespace emulator
