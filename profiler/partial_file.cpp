// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace warpmeter {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw InputError(fmt::format("cannot write {}: {}{}", file.string(), std::strerror(error),
                               error == ENOENT ? "; make the folder first" : ""));
}

[[noreturn]] void fail_exists(const std::filesystem::path& file) {
  throw InputError(
      fmt::format("cannot write {}: it is there; name another file or remove it", file.string()));
}

// Some file systems do not know RENAME_NOREPLACE.
int rename_new(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  return ::rename(from, to);
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& target)
    : target_(target), partial_(target.string() + ".partial") {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(target, error))) fail_exists(target);
  const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST)
    throw InputError(fmt::format(
        "cannot write {}: {} is there, of a writer that was killed or still writes; read it or "
        "remove it",
        target.string(), partial_.string()));
  if (descriptor < 0) fail(target, errno);
  ::close(descriptor);
}

void PartialFile::commit() {
  const int descriptor = ::open(partial_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(partial_, errno);
  const bool synced = ::fsync(descriptor) == 0;
  const int sync_error = errno;
  ::close(descriptor);
  if (!synced) fail(target_, sync_error);
  if (rename_new(partial_.c_str(), target_.c_str()) == 0) return;
  if (errno == EEXIST) fail_exists(target_);
  fail(target_, errno);
}

}  // namespace warpmeter
