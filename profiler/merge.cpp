// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/merge.h"

#include <fmt/format.h>

#include <optional>

#include "core/error.h"
#include "profiler/attribute_ranges.h"
#include "profiler/attribute_samples.h"
#include "profiler/profile_reader.h"
#include "profiler/profile_writer.h"
#include "profiler/schema.h"

namespace warpmeter {
namespace {

constexpr const char* make_maps =
    "CREATE TEMP TABLE map_string(old INTEGER PRIMARY KEY, new INTEGER);"
    "CREATE TEMP TABLE map_process(old INTEGER PRIMARY KEY, new INTEGER, offset INTEGER);"
    "CREATE TEMP TABLE map_device(old INTEGER PRIMARY KEY, new INTEGER);"
    "CREATE TEMP TABLE map_shape(old INTEGER PRIMARY KEY, new INTEGER);";

constexpr const char* map_strings =
    "DELETE FROM map_string; DELETE FROM map_process; DELETE FROM map_device; DELETE FROM "
    "map_shape;"
    "INSERT OR IGNORE INTO main.strings(text) SELECT text FROM shard.strings ORDER BY id;"
    "INSERT INTO map_string SELECT s.id, m.id FROM shard.strings s JOIN main.strings m "
    "ON m.text = s.text;";

// {0}: the highest id of processes.
constexpr const char* map_processes =
    "INSERT INTO map_process SELECT id, id + {0}, coalesce(clock_offset_ns, 0) FROM "
    "shard.processes;"
    "INSERT INTO main.processes SELECT id + {0}, pid, parent_pid, command, host, boot_id, "
    "CASE WHEN clock_offset_ns IS NULL THEN NULL ELSE 0 END, "
    "clock_applied_ns + coalesce(clock_offset_ns, 0) FROM shard.processes;";

// {0}: the highest id of devices. Ordinals are a process's own: two that differ say nothing.
constexpr const char* map_devices =
    "INSERT INTO map_device SELECT d.id, coalesce((SELECT m.id FROM main.devices m WHERE m.uuid = "
    "d.uuid), d.id + {0}) FROM shard.devices d;"
    "UPDATE main.devices SET ordinal = NULL WHERE id IN (SELECT m.new FROM map_device m JOIN "
    "shard.devices d ON d.id = m.old JOIN main.devices e ON e.id = m.new WHERE d.ordinal IS NOT "
    "e.ordinal);"
    "INSERT INTO main.devices SELECT m.new, ordinal, uuid, name, chip, facts FROM shard.devices d "
    "JOIN map_device m ON m.old = d.id WHERE m.new > {0};";

// Facts about a shard that decide whether it may be merged at all.
struct ShardFacts {
  std::filesystem::path file;
  Source source;
  Json provenance;
  std::vector<std::string> ids;
  std::optional<std::string> boot_id;
  std::int64_t without_offset = 0;
};

ShardFacts look_at(const std::filesystem::path& file) {
  const ProfileReader reader(file, Integrity::all_pages);
  ShardFacts facts{file, reader.source(), Json::object(), reader.shards(), std::nullopt, 0};
  facts.provenance["file"] = file.filename().string();
  for (const char* key : {"complete", "tool", "host", "provenance"})
    facts.provenance[key] = reader.meta(key);
  reader.scan("processes", {"boot_id", "clock_offset_ns"}, [&](const ProfileRow& row) {
    if (!row.optional_integer(1)) ++facts.without_offset;
    const auto boot = row.optional_text(0);
    if (!boot) return;
    if (facts.boot_id && *facts.boot_id != *boot)
      throw InputError(
          fmt::format("cannot merge {}: it holds processes of two boots", file.string()));
    facts.boot_id = *boot;
  });
  return facts;
}

void check_compatible(const std::vector<ShardFacts>& shards) {
  std::map<std::string, std::filesystem::path> seen;
  const ShardFacts* booted = nullptr;
  for (const ShardFacts& shard : shards) {
    for (const std::string& id : shard.ids) {
      const auto [other, fresh] = seen.emplace(id, shard.file);
      if (!fresh)
        throw InputError(fmt::format("cannot merge {}: its rows are in {} already; name it once",
                                     shard.file.string(), other->second.string()));
    }
    if (shard.source != shards.front().source)
      throw InputError(fmt::format("cannot merge {} ({}) with {} ({}): sources do not mix",
                                   shard.file.string(), to_string(shard.source),
                                   shards.front().file.string(), to_string(shards.front().source)));
    if (!shard.boot_id) continue;
    if (booted != nullptr && booted->boot_id != shard.boot_id)
      throw InputError(fmt::format(
          "cannot merge {} with {}: their clocks are of two boots or hosts; merge each host alone",
          shard.file.string(), booted->file.string()));
    booted = &shard;
  }
}

ProfileHeader merged_header(const std::vector<ShardFacts>& shards, const Json& tool) {
  ProfileHeader header;
  header.source = shards.front().source;
  header.tool = tool;
  header.host = shards.front().provenance["host"];
  Json merged = Json::array();
  for (const ShardFacts& shard : shards) merged.push_back(shard.provenance);
  header.provenance["merged"] = merged;
  return header;
}

// The column's value in the merged file, as SQL over a row `t` of the shard.
std::string expression(const Table& table, const Column& column, std::int64_t own_base,
                       std::int64_t kernel_base, std::int64_t range_base) {
  const auto mapped = [&](std::string_view map) {
    return fmt::format("(SELECT new FROM {} WHERE old = t.{})", map, column.name);
  };
  switch (column.role) {
    case Role::plain:
      return fmt::format("t.{}", column.name);
    case Role::time:
      return fmt::format(
          "t.{} + coalesce((SELECT offset FROM map_process WHERE old = t.process_id), 0)",
          column.name);
    case Role::own_id:
      return table.name == "shapes" ? "m.new" : fmt::format("t.id + {}", own_base);
    case Role::string_id:
      return mapped("map_string");
    case Role::process_id:
      return mapped("map_process");
    case Role::device_id:
      return mapped("map_device");
    case Role::shape_id:
      return mapped("map_shape");
    case Role::kernel_id:
      return fmt::format("t.{} + {}", column.name, kernel_base);
    case Role::range_id:
      return fmt::format("t.{} + {}", column.name, range_base);
  }
  throw std::logic_error("a column has no role");
}

// What the merged file cannot be trusted in.
void add_losses(const std::vector<ShardFacts>& shards, ProfileWriter& writer) {
  for (const ShardFacts& shard : shards) {
    const std::string name = shard.file.filename().string();
    LossRow loss;
    loss.collector = "merge";
    if (shard.without_offset != 0 && shards.size() > 1) {
      const std::string reason = name + ": times are as the process's clock gave them";
      loss.what = "clock offset";
      loss.count = shard.without_offset;
      loss.reason = reason;
      writer.add(loss);
    }
    if (shard.provenance["complete"] == false) {
      const std::string reason = name + ": its writer was killed or ran out of space";
      loss.what = "end of shard";
      loss.count = std::nullopt;
      loss.reason = reason;
      writer.add(loss);
    }
  }
}

}  // namespace

class ShardMerge {
 public:
  explicit ShardMerge(ProfileWriter& writer) : connection_(writer.connection()) {
    connection_.execute(make_maps);
  }

  void add(const ShardFacts& shard) {
    connection_.execute("COMMIT");
    connection_.prepare("ATTACH ? AS shard").bind(std::string_view(shard.file.native())).run();
    connection_.execute("BEGIN");
    copy();
    connection_.execute("COMMIT; DETACH shard; BEGIN;");
  }

  void attribute() {
    attribute_ranges(connection_);
    attribute_samples(connection_);
  }

  void put_shards(const std::vector<ShardFacts>& shards) {
    Json ids = Json::array();
    for (const ShardFacts& shard : shards)
      for (const std::string& id : shard.ids) ids.push_back(id);
    const std::string text = ids.dump();
    connection_.prepare("UPDATE meta SET value = ? WHERE key = 'shards'")
        .bind(std::string_view(text))
        .run();
  }

  std::map<std::string, std::int64_t, std::less<>> counts() {
    std::map<std::string, std::int64_t, std::less<>> rows;
    for (const Table& table : profile_tables())
      rows[std::string(table.name)] =
          connection_.integer(fmt::format("SELECT count(*) FROM main.{}", table.name));
    return rows;
  }

 private:
  std::int64_t base(std::string_view table) {
    return connection_.integer(fmt::format("SELECT coalesce(max(id), 0) FROM main.{}", table));
  }

  void copy() {
    connection_.execute(map_strings);
    connection_.execute(fmt::format(map_processes, base("processes")));
    connection_.execute(fmt::format(map_devices, base("devices")));
    copy_shapes();
    const std::int64_t kernel_base = base("kernels");
    const std::int64_t range_base = base("ranges");
    for (const Table& table : profile_tables()) {
      if (table.name == "meta" || table.name == "strings" || table.name == "processes" ||
          table.name == "devices" || table.name == "shapes")
        continue;
      const std::int64_t own_base = base(table.name);
      std::string values;
      for (const Column& column : table.columns)
        values += (values.empty() ? "" : ", ") +
                  expression(table, column, own_base, kernel_base, range_base);
      connection_.execute(fmt::format(
          "INSERT INTO main.{0} SELECT {1} FROM shard.{0} t ORDER BY id", table.name, values));
    }
  }

  void copy_shapes() {
    const Table& table = profile_table("shapes");
    const std::int64_t own_base = base("shapes");
    std::string same, values;
    for (const Column& column : table.columns) {
      const std::string value = expression(table, column, own_base, 0, 0);
      values += (values.empty() ? "" : ", ") + value;
      if (column.role != Role::own_id)
        same += fmt::format("{}e.{} IS {}", same.empty() ? "" : " AND ", column.name, value);
    }
    connection_.execute(fmt::format(
        "INSERT INTO map_shape SELECT t.id, coalesce((SELECT e.id FROM main.shapes e WHERE {} "
        "LIMIT 1), t.id + {}) FROM shard.shapes t;"
        "INSERT INTO main.shapes SELECT {} FROM shard.shapes t JOIN map_shape m ON m.old = t.id "
        "WHERE m.new > {};",
        same, own_base, values, own_base));
  }

  sqlite::Connection& connection_;
};

std::map<std::string, std::int64_t, std::less<>> merge_profiles(
    const std::vector<std::filesystem::path>& shards, const std::filesystem::path& out,
    const Json& tool) {
  if (shards.empty()) throw InputError("nothing to merge: name at least one *.profile.sqlite");
  std::vector<ShardFacts> facts;
  for (const auto& file : shards) facts.push_back(look_at(file));
  check_compatible(facts);
  ProfileWriter writer(out, merged_header(facts, tool));
  add_losses(facts, writer);
  std::map<std::string, std::int64_t, std::less<>> rows;
  std::filesystem::path at = out;
  try {
    ShardMerge merge(writer);
    for (const ShardFacts& shard : facts) {
      at = shard.file;
      merge.add(shard);
    }
    at = out;
    merge.put_shards(facts);
    merge.attribute();
    rows = merge.counts();
  } catch (const sqlite::Error& error) {
    throw InputError(
        fmt::format("cannot merge {} into {}: {}", at.string(), out.string(), error.what()));
  }
  writer.finish();
  return rows;
}

}  // namespace warpmeter
