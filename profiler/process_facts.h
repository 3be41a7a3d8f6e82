// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

#include "profiler/profile_writer.h"

namespace warpmeter {

// This process, for the row of `processes`. Empty where it cannot be read.
struct ProcessFacts {
  std::string command, host, boot_id;
};
ProcessFacts process_facts();

// Arguments of this process, separated by blanks.
std::string command_line();

// The program runs on the emulated GPU.
bool on_emulated_gpu();

// The header of a shard: source `emulated` where the program runs on the emulated GPU.
ProfileHeader shard_header();

}  // namespace warpmeter
