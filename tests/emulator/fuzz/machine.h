// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/device.h"

namespace fuzz {

// The emulated GPU without the runtime: takes PTX text.
class Machine {
 public:
  explicit Machine(const std::string& chip_file);
  // Runs the kernel `fuzz(in, out)`, whose arguments are arrays of 8 B words, at most 2^20 of each.
  // `out` keeps its size; what the kernel does not store is 0. Throws what the machine throws.
  void run(const std::string& ptx, std::uint32_t blocks, std::uint32_t threads,
           const std::vector<std::uint64_t>& in, std::vector<std::uint64_t>& out);

 private:
  emulator::Chip chip_;
  emulator::Links links_;
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
  std::unique_ptr<emulator::Device> device_;
  emulator::Time now_ = 0;
};

}  // namespace fuzz
