// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <stdexcept>
#include <string>

namespace warpmeter {

// Bad usage or bad input: the text is one line that says what, where and the remedy. The command
// exits with status 1.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user asked for something that is refused for safety. The command exits with status 3.
class RefusedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A benchmark cannot run here; the reason becomes the verdict `unsupported` of its measurement.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpmeter
