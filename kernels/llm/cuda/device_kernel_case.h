// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>

#include "core/benchmark.h"
#include "cuda/residency.h"
#include "cuda/session.h"
#include "kernels/llm/cuda/device_kernel.h"
#include "kernels/llm/kernel_case.h"

namespace warpmeter {

// One campaign of a kernel on a GPU. The constructor gets the device out of idle, uploads fresh
// data, executes and verifies, then finds how many executions fill a sample (hot).
class DeviceKernelCase : public Case {
 public:
  using Make = std::function<Problem()>;
  using Prepare = std::function<PreparedLaunch()>;
  // `prepare` runs on the device, and may throw to say why the kernel cannot run there.
  DeviceKernelCase(const Device& device, Residency residency, const Make& make,
                   const Prepare& prepare);

  // hot: the mean of as many executions as fill a sample (pace.h), queued behind one another in
  // one stream; cold: one execution after L2 was flushed. Both without the time of an empty
  // bracket.
  Sample sample() override;
  Json conditions() const override;

 private:
  double time_executions(int count);  // s

  Session session_;
  Residency residency_;
  std::optional<DeviceKernel> kernel_;
  Json launch_conditions_;
  std::optional<L2Flush> flush_;  // cold
  double empty_s_ = 0;
  int executions_ = 1;
};

}  // namespace warpmeter
