// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_subscriber.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace warpmeter {

CUpti_SubscriberHandle subscribe_cupti(const CuptiApi& cupti, CUpti_CallbackFunc callback,
                                       void* user_data) {
  std::array<char, 2 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> holder{};
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "warpmeter";
  parameters.oldSubscriberName = holder.data();
  parameters.oldSubscriberSize = holder.size() - 1;
  CUpti_SubscriberHandle handle = nullptr;
  const CUptiResult result = cupti.cuptiSubscribe_v2(&handle, callback, user_data, &parameters);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && holder[0] != '\0')
    throw InputError(
        fmt::format("timeline: \"{}\" holds CUPTI in this process; run without it", holder.data()));
  check_cupti(result, "timeline", "cuptiSubscribe_v2");
  return handle;
}

}  // namespace warpmeter
