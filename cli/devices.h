// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/benchmark.h"

namespace warpmeter {

// "cpu", "cuda:N", or "" for the default: the first GPU if there is one, else this host's CPU.
// `reason` says why.
struct Choice {
  Device device;
  std::string reason;
};

// Throws InputError for a device that does not exist, with what does.
Choice choose_device(const std::string& text);

// All GPUs; `why_none` says why there is none.
std::vector<Device> find_gpus(std::string& why_none);

// The tables of a device kind.
std::vector<Benchmark> benchmark_table(DeviceKind kind);
std::vector<Benchmark> kernel_table(DeviceKind kind);

// kernel.step with these points; empty if this warpmeter has no CUDA.
std::vector<Benchmark> step_rows(std::vector<Parameters> points);

}  // namespace warpmeter
