// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "emulator/driver/cupti_state.h"

namespace emulator {

// Stage the records that are enabled.
void record_work(const Work& work);
void record_synchronization(const Synchronization& synchronization);
void record_api(const ApiSite& site, std::uint32_t runtime_cbid, std::uint32_t driver_cbid);
void record_device(int device);
void record_context(const Context& context);

// On the client's clock.
std::uint64_t client_ns(std::uint64_t ns);

}  // namespace emulator
