// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/counters.h"

#include <nlohmann/json.hpp>

namespace emulator {
namespace {

struct Key {
  const char* name;
  std::uint64_t Counters::*member;
};
constexpr Key keys[] = {
    {"warp_instructions", &Counters::warp_instructions},
    {"l1_sectors", &Counters::l1_sectors},
    {"l1_hits", &Counters::l1_hits},
    {"l2_sectors", &Counters::l2_sectors},
    {"l2_hits", &Counters::l2_hits},
    {"l2_write_sectors", &Counters::l2_write_sectors},
    {"l2_atomic_sectors", &Counters::l2_atomic_sectors},
    {"dram_read_bytes", &Counters::dram_read_bytes},
    {"dram_write_bytes", &Counters::dram_write_bytes},
    {"shared_wavefronts", &Counters::shared_wavefronts},
    {"shared_conflicts", &Counters::shared_conflicts},
    {"host_bytes", &Counters::host_bytes},
    {"peer_bytes", &Counters::peer_bytes},
};

}  // namespace

Counters operator-(const Counters& a, const Counters& b) {
  Counters result;
  for (const Key& key : keys) result.*key.member = a.*key.member - b.*key.member;
  for (std::size_t i = 0; i < op_classes; ++i) {
    result.thread_instructions[i] = a.thread_instructions[i] - b.thread_instructions[i];
  }
  return result;
}

std::string to_json(const Counters& counters) {
  nlohmann::ordered_json json;
  for (const Key& key : keys) json[key.name] = counters.*key.member;
  for (std::size_t i = 0; i < op_classes; ++i) {
    json["thread_instructions"][name_of(static_cast<OpClass>(i))] = counters.thread_instructions[i];
  }
  return json.dump();
}

}  // namespace emulator
