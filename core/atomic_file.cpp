// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/json.h"

namespace warpmeter {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  const char* remedy = error == ENOENT                      ? "; make the folder first"
                       : error == ENOSPC || error == EDQUOT ? "; free space or write elsewhere"
                       : error == EACCES || error == EROFS  ? "; choose a writable folder"
                                                            : "";
  throw InputError(
      fmt::format("cannot write {}: {}{}", file.string(), std::strerror(error), remedy));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // some file systems cannot sync a folder: the rename stands all the same
  ::close(descriptor);
}

}  // namespace

void write_atomically(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(file)) fail(file, EISDIR);
  std::string temporary = (folder / fmt::format(".{}.XXXXXX", file.filename().string())).string();
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) fail(file, errno);
  ::fchmod(descriptor, 0644);
  const bool written = write_all(descriptor, text) && ::fsync(descriptor) == 0;
  const int write_error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written || !closed) {
    const int error = written ? errno : write_error;
    ::unlink(temporary.c_str());
    fail(file, error);
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    fail(file, error);
  }
  sync_folder(folder);
}

}  // namespace warpmeter
