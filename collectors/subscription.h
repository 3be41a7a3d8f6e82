// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "collectors/cupti_api.h"

namespace warpmeter {

// The process's one place as CUPTI's subscriber. It is never given up: CUPTI may be in a callback.
class Subscription {
 public:
  // Called in the thread that made the call, with CUPTI's data of the domain. Must not throw.
  using Listener = std::function<void(CUpti_CallbackDomain, CUpti_CallbackId, const void* data)>;

  // Throws InputError; where another tool has the place it names that tool.
  explicit Subscription(const CuptiApi& cupti);
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Before the first enable().
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // A callback is on while one of its users wants it; each may say so as often as it likes. All
  // listeners are called. Throws InputError.
  void enable(const void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, bool on);

 private:
  static void CUPTIAPI called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data);

  const CuptiApi& cupti_;
  CUpti_SubscriberHandle handle_ = nullptr;
  std::vector<Listener> listeners_;
  std::mutex mutex_;
  std::map<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>, std::set<const void*>> users_;
};

}  // namespace warpmeter
