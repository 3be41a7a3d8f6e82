// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/profile_writer.h"

namespace warpmeter {

// A folder that is removed with what is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// One row of every table, with values that are all different; `complete` by finish().
void write_planted_store(const std::filesystem::path& file);

// A kernel of a planted shard, as a reader of the merged file must find it.
struct PlantedKernel {
  std::int64_t start_ns, end_ns;
  std::string name, uuid;
  std::int64_t pid, grid_x, correlation;
  std::string range;
  auto operator<=>(const PlantedKernel&) const = default;
};

struct PlantedShard {
  std::filesystem::path file;
  std::int64_t pid = 0;
  std::optional<std::int64_t> clock_offset_ns;
  std::vector<std::string> uuids;
  std::string boot_id = "boot";
  Source source = Source::measured;
  int kernels = 0;
  unsigned seed = 0;
  std::int64_t losses = 0;
};

// Writes it; what its kernels are on the common clock.
std::multiset<PlantedKernel> write_shard(const PlantedShard& shard);
std::multiset<PlantedKernel> read_kernels(const std::filesystem::path& file);

// The text of the InputError that `run` throws; "" with a test failure if it does not.
std::string refusal_of(const std::function<void()>& run);

}  // namespace warpmeter
