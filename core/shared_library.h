// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

namespace warpmeter {

// A library that is opened at run time, because it may be missing where the program starts. Never
// closed: what it started may outlive its users.
class SharedLibrary {
 public:
  // An empty one, with `why` set ("libx.so.1 not found"), if the loader does not find `name`.
  static SharedLibrary open(const char* name, std::string& why);

  // The file that the loader took; the name if it does not say.
  std::string path() const;

  explicit operator bool() const { return handle_ != nullptr; }

  // Null if the library has no such symbol; the first such one is missing().
  template <typename Function>
  void bind(const char* symbol, Function*& target) const {
    target = reinterpret_cast<Function*>(find(symbol));
    if (target == nullptr && missing_ == nullptr) missing_ = symbol;
  }
  const char* missing() const { return missing_; }  // null: nothing so far

 private:
  void* find(const char* symbol) const;

  void* handle_ = nullptr;
  std::string name_;
  mutable const char* missing_ = nullptr;
};

}  // namespace warpmeter
