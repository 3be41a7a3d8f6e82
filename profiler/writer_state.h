// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Internal to ProfileWriter.
#pragma once

#include <unistd.h>

#include <unordered_map>

#include "profiler/partial_file.h"
#include "profiler/profile_writer.h"
#include "profiler/schema.h"
#include "profiler/sqlite.h"

namespace warpmeter {

// The order of profile_tables().
enum TableIndex : int {
  strings_table = 1,
  processes_table,
  devices_table,
  shapes_table,
  ranges_table,
  kernels_table,
  copies_table,
  sets_table,
  synchronizations_table,
  api_table,
  graph_nodes_table,
  counters_table,
  samples_table,
  pc_samples_table,
  losses_table,
  images_table,
  table_count
};

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&hash](std::int64_t value) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    };
    mix(shape.name_id);
    for (const auto& extent : {shape.grid, shape.block, shape.cluster})
      for (const std::int64_t size : extent) mix(size);
    mix(shape.shared_dynamic.value_or(-1));
    return hash;
  }
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

struct ProfileWriter::State {
  explicit State(const std::filesystem::path& target) : file(target) {}

  PartialFile file;
  sqlite::Connection connection;
  std::array<sqlite::Statement, table_count> inserts;
  std::array<std::int64_t, table_count> last_id{};
  std::array<std::int64_t, table_count> unflushed{};
  std::int64_t unflushed_ends = 0;
  sqlite::Statement find_string, find_shape, end_range;
  std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>> strings;
  std::size_t cached_text = 0;
  std::unordered_map<Shape, std::int64_t, ShapeHash> shapes;
  std::string failure;
  std::map<std::string, std::int64_t, std::less<>> lost;
  bool finished = false;
  pid_t owner = ::getpid();

  void create(const ProfileHeader& header);
  void prepare();
  void put_meta(std::string_view key, const Json& value);
  void lose(int table) { ++lost[std::string(profile_tables()[table].name)]; }
  void lose_ends();
  void break_off(const sqlite::Error& error);
  std::int64_t lookup(sqlite::Statement& statement);  // 0: not there, or the recording ended
  void write_losses();
  void close();
  std::int64_t remember(std::string_view text, std::int64_t id);
  std::int64_t remember(const Shape& shape, std::int64_t id);
};

}  // namespace warpmeter
