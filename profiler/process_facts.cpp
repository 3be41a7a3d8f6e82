// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/process_facts.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/provenance.h"

namespace warpmeter {
namespace {

std::string file_text(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string command_line() {
  std::string text = file_text("/proc/self/cmdline");
  for (char& c : text)
    if (c == '\0') c = ' ';
  if (!text.empty()) text.pop_back();
  return text;
}

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.command = command_line();
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) facts.host = host.data();
  facts.boot_id = file_text("/proc/sys/kernel/random/boot_id");
  if (!facts.boot_id.empty() && facts.boot_id.back() == '\n') facts.boot_id.pop_back();
  return facts;
}

// Set by the emulated runtime's users (docs/emulator.md).
bool on_emulated_gpu() {
  const char* chip = std::getenv("WARPMETER_EMULATED_CHIP_FILE");
  return chip != nullptr && *chip != '\0';
}

ProfileHeader shard_header() {
  ProfileHeader header;
  if (on_emulated_gpu()) header.source = Source::emulated;
  header.tool = tool_provenance({});
  header.host = host_provenance(0);
  return header;
}

}  // namespace warpmeter
