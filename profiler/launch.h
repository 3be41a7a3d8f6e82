// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/inject_options.h"

namespace warpmeter {

// How a command ended.
struct CommandEnd {
  int exit_status = 0;  // if it exited
  int signal = 0;       // that ended it; 0: it exited

  bool ok() const { return signal == 0 && exit_status == 0; }
};
std::string to_string(const CommandEnd& end);

// Runs a command with the injected library in it and in its children, and waits. Signals from the
// terminal reach the command itself; SIGTERM and SIGHUP are passed on. Throws InputError if the
// command cannot be started, and if another profiler is in the environment already.
CommandEnd run_injected(const std::vector<std::string>& command,
                        const std::filesystem::path& library, const InjectOptions& options);

// Waits until no process of `folder` writes its shard any more, at most for `patience`. Returns the
// pids of those that still do.
std::vector<int> wait_for_writers(const std::filesystem::path& folder,
                                  std::chrono::seconds patience);

// Shards, whole ones and those of killed writers, in order of their names; and lines of notes
// ("PID: text").
struct ShardFolder {
  std::vector<std::filesystem::path> shards;
  std::vector<std::string> notes;
};
ShardFolder look_into(const std::filesystem::path& folder);

}  // namespace warpmeter
