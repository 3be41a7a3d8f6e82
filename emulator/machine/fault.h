// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <driver_types.h>

#include <stdexcept>
#include <string>

namespace emulator {

// What ends a kernel: the error that a GPU would report, and a text that says more than it does.
class Fault : public std::runtime_error {
 public:
  Fault(cudaError_t what, const std::string& text) : std::runtime_error(text), code(what) {}
  cudaError_t code;
};

}  // namespace emulator
