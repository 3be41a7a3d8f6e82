// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/subscription.h"

#include <fmt/format.h>

#include <array>

#include "collectors/cupti_error.h"
#include "core/error.h"

namespace warpmeter {

Subscription::Subscription(const CuptiApi& cupti) : cupti_(cupti) {
  std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1> holder{};
  CUpti_SubscriberParams params{};
  params.structSize = sizeof params;
  params.subscriberName = "warpmeter";
  params.oldSubscriberName = holder.data();
  params.oldSubscriberSize = holder.size() - 1;
  const CUptiResult result = cupti_.cuptiSubscribe_v2(&handle_, called, this, &params);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && holder[0] != '\0')
    throw InputError(fmt::format("timeline: {} is CUPTI's subscriber in this process; {}",
                                 holder.data(), find_cupti_error(result)->remedy));
  check_cupti(result, "timeline", "cuptiSubscribe_v2");
}

void Subscription::enable(const void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          bool on) {
  const std::lock_guard lock(mutex_);
  std::set<const void*>& users = users_[{domain, id}];
  const bool was_on = !users.empty();
  if (on)
    users.insert(user);
  else
    users.erase(user);
  if (was_on == !users.empty()) return;
  check_cupti(cupti_.cuptiEnableCallback(on ? 1 : 0, handle_, domain, id), "timeline",
              "cuptiEnableCallback");
}

void CUPTIAPI Subscription::called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
  for (const Listener& listener : static_cast<Subscription*>(self)->listeners_) {
    try {
      listener(domain, id, data);
    } catch (...) {  // frames of the driver cannot be unwound
    }
  }
}

}  // namespace warpmeter
