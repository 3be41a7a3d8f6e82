// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/shared_library.h"

#include <dlfcn.h>
#include <link.h>

namespace warpmeter {

SharedLibrary SharedLibrary::open(const char* name, std::string& why) {
  SharedLibrary library;
  library.name_ = name;
  library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) why = std::string(name) + " not found";
  return library;
}

std::string SharedLibrary::path() const {
  const link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return name_;
  return *map->l_name == '\0' ? name_ : map->l_name;
}

void* SharedLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace warpmeter
