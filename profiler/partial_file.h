// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>

namespace warpmeter {

// An output that is written under a temporary name, FILE.partial, and renamed when it is whole.
class PartialFile {
 public:
  // Makes an empty FILE.partial. Throws InputError if FILE or FILE.partial is there, or if it
  // cannot be made.
  explicit PartialFile(const std::filesystem::path& target);

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& partial() const { return partial_; }

  // Syncs and renames without replacing. Throws InputError if FILE has appeared meanwhile.
  void commit();

 private:
  std::filesystem::path target_, partial_;
};

}  // namespace warpmeter
