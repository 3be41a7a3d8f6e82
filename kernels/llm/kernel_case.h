// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <memory>

#include "core/benchmark.h"
#include "kernels/llm/kernel.h"
#include "kernels/llm/team.h"

namespace warpmeter {

// hot: executions follow each other, so operands stay in the caches that hold them. cold: all lines
// that an execution touches are flushed before it, outside of the timed part; code, descriptors and
// page translations stay warm, and the threads are spinning as in `hot`.
enum class Residency { hot, cold };

std::string to_string(Residency residency);
Residency parse_residency(std::string_view text);  // Throws InputError on any other text.

// One campaign of a kernel. The constructor binds the team, makes the kernel, poisons its outputs,
// executes and verifies it, then finds how many executions fill a millisecond (hot).
class KernelCase : public Case {
 public:
  using Make = std::function<std::unique_ptr<Kernel>()>;
  KernelCase(int threads, Residency residency, const Make& make);

  // hot: the mean of as many executions as take a millisecond; cold: one execution.
  Sample sample() override;
  Json conditions() const override;

 private:
  double time_executions(int count);  // s

  BoundTeam team_;
  Residency residency_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Bytes> touched_;
  int executions_ = 1;
};

}  // namespace warpmeter
