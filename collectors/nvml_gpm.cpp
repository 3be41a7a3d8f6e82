// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_gpm.h"

#include <utility>

namespace warpmeter {

NvmlGpm::NvmlGpm(const NvmlApi& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {
  for (std::size_t i = 0; i < nvml_quantities().size(); ++i)
    if (nvml_quantities()[i].gpm != 0) quantities_.push_back(i);
}

std::unique_ptr<NvmlGpm> NvmlGpm::open(const NvmlApi& nvml, NvmlDevice device, std::string& why) {
  why.clear();
  if (nvml.gpm_support == nullptr || nvml.gpm_allocate == nullptr || nvml.gpm_free == nullptr ||
      nvml.gpm_sample == nullptr || nvml.gpm_metrics == nullptr) {
    why = "this driver's NVML has no GPM";
    return nullptr;
  }
  NvmlGpmSupport support{nvml_gpm_version, 0};
  if (const int status = nvml.gpm_support(device, &support); status != nvml_success)
    why = "nvmlGpmQueryDeviceSupport: " + nvml_error_name(status);
  else if (support.supported == 0)
    why = "the device has no GPM: it needs Hopper or newer";
  if (!why.empty()) return nullptr;
  std::unique_ptr<NvmlGpm> gpm(new NvmlGpm(nvml, device));
  for (NvmlGpmSample* sample : {&gpm->before_, &gpm->now_}) {
    const int status = nvml.gpm_allocate(sample);
    if (status == nvml_success) continue;
    *sample = nullptr;
    why = "nvmlGpmSampleAlloc: " + nvml_error_name(status);
    return nullptr;
  }
  return gpm;
}

NvmlGpm::~NvmlGpm() {
  for (const NvmlGpmSample sample : {before_, now_})
    if (sample != nullptr) (void)nvml_.gpm_free(sample);
}

void NvmlGpm::sample(std::uint64_t now_ns,
                     const std::function<void(std::size_t, int, double)>& give) {
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + interval_ns;
  int status = nvml_.gpm_sample(device_, now_);
  if (status == nvml_success && has_before_) {
    request_->version = nvml_gpm_version;
    request_->count = static_cast<unsigned int>(quantities_.size());
    request_->from = before_;
    request_->to = now_;
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      request_->metrics[i] = {};
      request_->metrics[i].id = nvml_quantities()[quantities_[i]].gpm;
    }
    status = nvml_.gpm_metrics(request_.get());
  } else if (status == nvml_success) {
    has_before_ = true;
    std::swap(before_, now_);
    return;
  }
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const NvmlGpmMetric& metric = request_->metrics[i];
    give(quantities_[i], status != nvml_success ? status : metric.status, metric.value);
  }
  // Intervals follow each other without gaps, also after one that failed.
  if (status == nvml_success) std::swap(before_, now_);
}

}  // namespace warpmeter
