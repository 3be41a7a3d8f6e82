// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/device_kernel_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cuda/check.h"

namespace warpmeter {
namespace {

constexpr double most_executions = 400;  // what fits into the launch queue (bracket.h)

}  // namespace

DeviceKernelCase::DeviceKernelCase(const Device& device, Residency residency, const Make& make,
                                   const Prepare& prepare)
    : session_(device), residency_(residency) {
  const DeviceGuard guard(device.ordinal);
  PreparedLaunch prepared = prepare();
  launch_conditions_ = std::move(prepared.conditions);
  kernel_.emplace(make(), std::move(prepared.launch), session_.stream());
  kernel_->enqueue(session_.stream());
  kernel_->verify(session_.stream());
  empty_s_ = session_.bracket().empty_s(session_.stream());
  if (residency_ == Residency::cold) {
    flush_.emplace(session_.l2_bytes(), session_.sm_count());
    return;
  }
  const double wanted = session_.pace().sample_s / time_executions(1);
  executions_ = static_cast<int>(std::clamp(std::ceil(wanted), 1.0, most_executions));
}

double DeviceKernelCase::time_executions(int count) {
  const double event_s = session_.bracket().time(session_.stream(), [&](cudaStream_t stream) {
    for (int i = 0; i < count; ++i) kernel_->enqueue(stream);
  });
  if (event_s <= empty_s_)
    throw std::runtime_error("the kernel took no longer than two events with nothing between");
  return event_s - empty_s_;
}

Sample DeviceKernelCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  if (flush_) flush_->enqueue(session_.stream());
  const double elapsed_s = time_executions(executions_);
  return {elapsed_s / executions_, elapsed_s};
}

Json DeviceKernelCase::conditions() const {
  Json json = session_.conditions();
  json["implementation"] = "CUDA";
  json["checked_results"] = kernel_->problem().checked_results;
  json["executions_per_sample"] = executions_;
  json.update(launch_conditions_);
  json["empty_bracket_s"] = empty_s_;
  return json;
}

}  // namespace warpmeter
