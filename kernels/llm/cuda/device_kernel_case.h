// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>

#include "core/benchmark.h"
#include "cuda/residency.h"
#include "cuda/session.h"
#include "kernels/llm/cuda/device_kernel.h"
#include "kernels/llm/cuda/kernel_range.h"
#include "kernels/llm/kernel_case.h"

namespace warpmeter {

// eager: each launch is queued by itself. graph: the launches of a sample are captured into a CUDA
// graph, which is launched once per sample.
enum class LaunchMode { eager, graph };

// What fits into the launch queue (bracket.h): of one sample.
inline constexpr double most_queued_launches = 400;

LaunchMode parse_launch_mode(std::string_view text);  // Throws InputError on any other text.

// One campaign of a kernel on a GPU. The constructor gets the device out of idle, uploads fresh
// data, executes and verifies, then finds how many executions fill a sample (hot). Check and
// samples, without the flush before them, lie in NVTX ranges.
class DeviceKernelCase : public Case {
 public:
  // Runs on the device, and may throw to say why the kernel cannot run there.
  using Make = std::function<std::unique_ptr<DeviceWork>(cudaStream_t)>;
  struct Options {
    Residency residency = Residency::hot;
    LaunchMode launch_mode = LaunchMode::eager;
    KernelLabel label;
    double launches = 1;  // of an execution
  };
  DeviceKernelCase(const Device& device, Options options, const Make& make);

  // hot: the mean of as many executions as fill a sample (pace.h), queued behind one another in
  // one stream; cold: one execution after L2 was flushed. Both without the time of an empty
  // bracket.
  Sample sample() override;
  Json conditions() const override;

 private:
  double time(const std::function<void(cudaStream_t)>& enqueue);  // s
  void enqueue(cudaStream_t stream, int count) const;
  void capture();

  Session session_;
  Options options_;
  std::unique_ptr<DeviceWork> kernel_;
  std::optional<L2Flush> flush_;  // cold
  GraphExec graph_;               // of a sample's executions
  double empty_s_ = 0;
  int executions_ = 1;
};

}  // namespace warpmeter
