// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/shared_library.h"

#include <dlfcn.h>

namespace warpmeter {

SharedLibrary SharedLibrary::open(const char* name, std::string& why) {
  SharedLibrary library;
  library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) why = std::string(name) + " not found";
  return library;
}

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace warpmeter
