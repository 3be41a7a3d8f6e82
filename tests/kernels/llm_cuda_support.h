// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "core/work.h"
#include "kernels/llm/cuda/device_kernel_case.h"

namespace warpmeter {

// What the emulated GPU counted (docs/emulator.md) in one execution that found nothing in its
// caches, all launches of the execution together.
struct Counted {
  double dram_read = 0, dram_written = 0;      // B; written: with what a later flush wrote back
  double l2 = 0;                               // B, loads and stores
  double shared_conflicts = 0;                 // wavefronts beyond what the bytes need
  std::map<std::string, double> instructions;  // of threads, by class
  double peer = 0;                             // B, loads from and stores to other devices
  int launches = 0;
  double of(const std::string& name) const { return instructions.at(name); }
};

// Runs tests on the emulated GPU, with its counters.
class OnEmulatedGpu : public testing::Test {
 protected:
  void SetUp() override;

  // Executes once, checks the result, and returns the counters. Fails the test if it is wrong.
  Counted run(Problem problem, const Launch& launch);
  Counted run(const DeviceKernelCase::Make& make);

  // The counters of all launches that end within `execute`; written: only what it evicts.
  static Counted counted(const std::function<void()>& execute);

  // What the work model claims exactly: `counted` agrees with the compulsory bytes.
  static void expect_compulsory_dram(const Counted& counted, const Work& work);
};

inline const Element row_types[] = {Element::f32, Element::bf16, Element::f16};

}  // namespace warpmeter
