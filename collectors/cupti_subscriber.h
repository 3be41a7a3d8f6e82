// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "collectors/cupti_api.h"

namespace warpmeter {

// Takes CUPTI's one place for a subscriber of this process. Throws InputError if it is taken, with
// the name of who has it, where CUPTI tells, or for another error. After the driver gate, and as
// late as possible: while it is held, no other tool can work in the process.
CUpti_SubscriberHandle subscribe_cupti(const CuptiApi& cupti, CUpti_CallbackFunc callback,
                                       void* user_data);

}  // namespace warpmeter
