// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/device_kernel_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/error.h"
#include "cuda/check.h"

namespace warpmeter {
LaunchMode parse_launch_mode(std::string_view text) {
  if (text == "eager") return LaunchMode::eager;
  if (text == "graph") return LaunchMode::graph;
  throw InputError("unknown way of launching \"" + std::string(text) + "\": eager or graph");
}

DeviceKernelCase::DeviceKernelCase(const Device& device, Options options, const Make& make)
    : session_(device), options_(std::move(options)) {
  const DeviceGuard guard(device.ordinal);
  const cudaStream_t stream = session_.stream();
  kernel_ = make(stream);
  {
    const KernelRange range(options_.label, KernelRange::What::check, 1);
    kernel_->enqueue(stream);
    kernel_->verify(stream);
  }
  empty_s_ = session_.bracket().empty_s(stream);
  if (options_.residency == Residency::cold) {
    flush_.emplace(session_.l2_bytes(), session_.sm_count());
  } else {
    const double once_s = time([&](cudaStream_t queue) { enqueue(queue, 1); });
    const double wanted = session_.pace().sample_s / once_s;
    const double most = std::max(1.0, most_queued_launches / options_.launches);
    executions_ = static_cast<int>(std::clamp(std::ceil(wanted), 1.0, most));
  }
  if (options_.launch_mode == LaunchMode::graph) capture();
}

void DeviceKernelCase::capture() {
  const cudaStream_t stream = session_.stream();
  GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue(stream, executions_);
  cudaGraph_t captured = nullptr;
  GPU_CHECK(cudaStreamEndCapture(stream, &captured));
  graph_ = instantiate(Graph(captured));
  GPU_CHECK(cudaGraphUpload(graph_.get(), stream));
  GPU_CHECK(cudaGraphLaunch(graph_.get(), stream));  // the first launch of a graph costs more
  GPU_CHECK(cudaStreamSynchronize(stream));
}

void DeviceKernelCase::enqueue(cudaStream_t stream, int count) const {
  for (int i = 0; i < count; ++i) kernel_->enqueue(stream);
}

double DeviceKernelCase::time(const std::function<void(cudaStream_t)>& enqueue) {
  const double event_s = session_.bracket().time(session_.stream(), enqueue);
  if (event_s <= empty_s_)
    throw std::runtime_error("the kernel took no longer than two events with nothing between");
  return event_s - empty_s_;
}

Sample DeviceKernelCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  if (flush_) flush_->enqueue(session_.stream());
  const KernelRange range(options_.label, KernelRange::What::sample, executions_);
  const double elapsed_s = time([&](cudaStream_t stream) {
    if (graph_.get() == nullptr) return enqueue(stream, executions_);
    GPU_CHECK(cudaGraphLaunch(graph_.get(), stream));
  });
  return {elapsed_s / executions_, elapsed_s};
}

Json DeviceKernelCase::conditions() const {
  Json json = session_.conditions();
  json["executions_per_sample"] = executions_;
  json["empty_bracket_s"] = empty_s_;
  json.update(kernel_->conditions());
  return json;
}

}  // namespace warpmeter
