// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/kernel_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"

namespace warpmeter {
namespace {

// Aimed at by `hot`: above the millisecond that a sample must have, since executions get faster as
// caches fill.
constexpr double sample_s = 1.25e-3;

}  // namespace

std::string to_string(Residency residency) { return residency == Residency::hot ? "hot" : "cold"; }

Residency parse_residency(std::string_view text) {
  if (text == "hot") return Residency::hot;
  if (text == "cold") return Residency::cold;
  throw InputError("residency '" + std::string(text) + "' is unknown: use hot or cold");
}

KernelCase::KernelCase(int threads, Residency residency, const Make& make)
    : team_(threads), residency_(residency), kernel_(make()), touched_(kernel_->touched()) {
  for (const Operand& operand : kernel_->operands())
    if (operand.role != Role::input) poison(operand);
  kernel_->execute();
  kernel_->verify();
  if (residency_ == Residency::cold) return;
  const int trial = std::clamp(static_cast<int>(sample_s / 4 / time_executions(1)), 1, 1000);
  const double once_s = time_executions(trial) / trial;
  executions_ = std::max(1, static_cast<int>(std::ceil(sample_s / once_s)));
}

double KernelCase::time_executions(int count) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) kernel_->execute();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Sample KernelCase::sample() {
  if (residency_ == Residency::cold) flush_lines(touched_);
  double elapsed_s = time_executions(executions_);
  while (residency_ == Residency::hot && elapsed_s < 1e-3) {  // the first guess was disturbed
    executions_ *= 2;
    elapsed_s = time_executions(executions_);
  }
  return {elapsed_s / executions_, elapsed_s};
}

Json KernelCase::conditions() const {
  Json json = kernel_->conditions();
  json["executions_per_sample"] = executions_;
  json["threads"] = team_.threads();
  json["binding"] = "one thread per core";
  json["wait_policy"] = wait_policy();
  return json;
}

}  // namespace warpmeter
