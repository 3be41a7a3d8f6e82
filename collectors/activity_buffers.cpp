// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/activity_buffers.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace warpmeter {
namespace {

std::atomic<ActivityBuffers*> current{nullptr};

// All that were ever made, so that what is never freed is not taken for a leak.
std::vector<std::uint8_t*>& every_buffer() {
  static auto& all = *new std::vector<std::uint8_t*>;
  return all;
}

}  // namespace

ActivityBuffers::ActivityBuffers(const CuptiApi& cupti, std::size_t count, std::size_t bytes)
    : cupti_(cupti), count_(std::max<std::size_t>(count, 1)), bytes_(bytes) {
  // Nothing may throw in the callbacks.
  free_.reserve(count_);
  every_buffer().reserve(every_buffer().size() + count_);
}

ActivityBuffers::~ActivityBuffers() {
  ActivityBuffers* self = this;
  current.compare_exchange_strong(self, nullptr);
}

void ActivityBuffers::attach() {
  current.store(this);
  check_cupti(cupti_.cuptiActivityRegisterCallbacks(requested, completed), "timeline",
              "cuptiActivityRegisterCallbacks");
}

std::uint8_t* ActivityBuffers::acquire() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  if (allocated_ == count_) return nullptr;
  void* made = ::operator new (bytes_, std::align_val_t{64}, std::nothrow);
  if (made == nullptr) return nullptr;
  ++allocated_;
  every_buffer().push_back(static_cast<std::uint8_t*>(made));
  return every_buffer().back();
}

void CUPTIAPI ActivityBuffers::requested(std::uint8_t** buffer, std::size_t* size,
                                         std::size_t* records) {
  ActivityBuffers* self = current.load();
  *buffer = self != nullptr ? self->acquire() : nullptr;
  *size = *buffer != nullptr ? self->bytes_ : 0;
  *records = 0;  // as many as fit
}

void CUPTIAPI ActivityBuffers::completed(CUcontext context, std::uint32_t stream,
                                         std::uint8_t* buffer, std::size_t, std::size_t valid) {
  ActivityBuffers* self = current.load();
  if (self == nullptr || buffer == nullptr) return;
  // Not under our lock: CUPTI takes one of its own.
  std::size_t dropped = 0;
  if (self->cupti_.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) != CUPTI_SUCCESS)
    dropped = 0;
  const std::lock_guard lock(self->mutex_);
  self->dropped_ += dropped;
  if (valid == 0) {
    self->free_.push_back(buffer);
    return;
  }
  try {
    self->filled_.push_back({buffer, valid});
  } catch (const std::bad_alloc&) {
    self->free_.push_back(buffer);
    self->dropped_ += valid / sizeof(CUpti_ActivityKernel10);
  }
}

std::optional<ActivityBuffers::Filled> ActivityBuffers::take() {
  const std::lock_guard lock(mutex_);
  if (filled_.empty()) return std::nullopt;
  const Filled filled = filled_.front();
  filled_.pop_front();
  return filled;
}

void ActivityBuffers::release(const Filled& filled) {
  const std::lock_guard lock(mutex_);
  free_.push_back(filled.data);
}

std::uint64_t ActivityBuffers::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

std::size_t ActivityBuffers::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_ * bytes_;
}

}  // namespace warpmeter
