// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/schema.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace warpmeter {
namespace {

constexpr std::string_view id_type = "INTEGER PRIMARY KEY";
constexpr std::string_view integer = "INTEGER NOT NULL";
constexpr std::string_view integer_or_null = "INTEGER";
constexpr std::string_view text = "TEXT NOT NULL";
constexpr std::string_view text_or_null = "TEXT";
constexpr std::string_view real_or_null = "REAL";

constexpr Column meta[] = {{"key", "TEXT NOT NULL PRIMARY KEY"}, {"value", text}};
constexpr Column strings[] = {{"id", id_type, Role::own_id}, {"text", "TEXT NOT NULL UNIQUE"}};
constexpr Column processes[] = {{"id", id_type, Role::own_id},
                                {"pid", integer},
                                {"parent_pid", integer_or_null},
                                {"command", text},
                                {"host", text_or_null},
                                {"boot_id", text_or_null},
                                {"clock_offset_ns", integer_or_null},
                                {"clock_applied_ns", integer}};
constexpr Column devices[] = {{"id", id_type, Role::own_id}, {"ordinal", integer_or_null},
                              {"uuid", "TEXT UNIQUE"},       {"name", text},
                              {"chip", text_or_null},        {"facts", text}};
constexpr Column shapes[] = {{"id", id_type, Role::own_id},
                             {"name_id", integer, Role::string_id},
                             {"grid_x", integer},
                             {"grid_y", integer},
                             {"grid_z", integer},
                             {"block_x", integer},
                             {"block_y", integer},
                             {"block_z", integer},
                             {"cluster_x", integer},
                             {"cluster_y", integer},
                             {"cluster_z", integer},
                             {"shared_static", integer_or_null},
                             {"shared_dynamic", integer_or_null},
                             {"registers", integer_or_null}};
constexpr Column kernels[] = {{"id", id_type, Role::own_id},
                              {"process_id", integer, Role::process_id},
                              {"device_id", integer, Role::device_id},
                              {"context", integer_or_null},
                              {"stream", integer_or_null},
                              {"start_ns", integer_or_null, Role::time},
                              {"end_ns", integer_or_null, Role::time},
                              {"correlation", integer_or_null},
                              {"graph", integer_or_null},
                              {"graph_node", integer_or_null},
                              {"shape_id", integer, Role::shape_id},
                              {"range_id", integer_or_null, Role::range_id},
                              {"capture_range_id", integer_or_null, Role::range_id}};
constexpr Column copies[] = {{"id", id_type, Role::own_id},
                             {"process_id", integer, Role::process_id},
                             {"device_id", integer, Role::device_id},
                             {"context", integer_or_null},
                             {"stream", integer_or_null},
                             {"start_ns", integer_or_null, Role::time},
                             {"end_ns", integer_or_null, Role::time},
                             {"correlation", integer_or_null},
                             {"graph", integer_or_null},
                             {"graph_node", integer_or_null},
                             {"kind", text},
                             {"source_memory", text_or_null},
                             {"target_memory", text_or_null},
                             {"peer_device_id", integer_or_null, Role::device_id},
                             {"bytes", integer},
                             {"range_id", integer_or_null, Role::range_id}};
constexpr Column sets[] = {{"id", id_type, Role::own_id},
                           {"process_id", integer, Role::process_id},
                           {"device_id", integer, Role::device_id},
                           {"context", integer_or_null},
                           {"stream", integer_or_null},
                           {"start_ns", integer_or_null, Role::time},
                           {"end_ns", integer_or_null, Role::time},
                           {"correlation", integer_or_null},
                           {"graph", integer_or_null},
                           {"graph_node", integer_or_null},
                           {"memory", text_or_null},
                           {"bytes", integer},
                           {"value", integer_or_null},
                           {"range_id", integer_or_null, Role::range_id}};
constexpr Column synchronizations[] = {{"id", id_type, Role::own_id},
                                       {"process_id", integer, Role::process_id},
                                       {"device_id", integer_or_null, Role::device_id},
                                       {"context", integer_or_null},
                                       {"stream", integer_or_null},
                                       {"start_ns", integer_or_null, Role::time},
                                       {"end_ns", integer_or_null, Role::time},
                                       {"correlation", integer_or_null},
                                       {"kind", text}};
constexpr Column api[] = {{"id", id_type, Role::own_id},
                          {"process_id", integer, Role::process_id},
                          {"thread", integer},
                          {"start_ns", integer, Role::time},
                          {"end_ns", integer, Role::time},
                          {"correlation", integer_or_null},
                          {"name_id", integer, Role::string_id},
                          {"result", integer_or_null},
                          {"range_id", integer_or_null, Role::range_id}};
constexpr Column graph_nodes[] = {{"id", id_type, Role::own_id},
                                  {"process_id", integer, Role::process_id},
                                  {"node", integer},
                                  {"source_node", integer_or_null},
                                  {"thread", integer},
                                  {"time_ns", integer, Role::time}};
constexpr Column ranges[] = {{"id", id_type, Role::own_id},
                             {"process_id", integer, Role::process_id},
                             {"thread", integer_or_null},
                             {"domain_id", integer_or_null, Role::string_id},
                             {"name_id", integer, Role::string_id},
                             {"category_id", integer_or_null, Role::string_id},
                             {"payload", text_or_null},
                             {"kind", text},
                             {"start_ns", integer, Role::time},
                             {"end_ns", integer_or_null, Role::time},
                             {"parent_id", integer_or_null, Role::range_id}};
constexpr Column counters[] = {{"id", id_type, Role::own_id},
                               {"kernel_id", integer_or_null, Role::kernel_id},
                               {"shape_id", integer_or_null, Role::shape_id},
                               {"range_id", integer_or_null, Role::range_id},
                               {"device_id", integer_or_null, Role::device_id},
                               {"metric_id", integer, Role::string_id},
                               {"value", real_or_null},
                               {"unit", text},
                               {"source", text},
                               {"scope", text},
                               {"passes", integer_or_null},
                               {"low", real_or_null},
                               {"high", real_or_null},
                               {"level", real_or_null},
                               {"verdict", text},
                               {"reason", text_or_null}};
constexpr Column samples[] = {{"id", id_type, Role::own_id},
                              {"process_id", integer, Role::process_id},
                              {"device_id", integer, Role::device_id},
                              {"time_ns", integer, Role::time},
                              {"metric_id", integer, Role::string_id},
                              {"value", real_or_null},
                              {"unit", text},
                              {"source", text}};
constexpr Column losses[] = {{"id", id_type, Role::own_id},
                             {"process_id", integer_or_null, Role::process_id},
                             {"collector", text},
                             {"what", text},
                             {"count", integer_or_null},
                             {"from_ns", integer_or_null, Role::time},
                             {"to_ns", integer_or_null, Role::time},
                             {"reason", text}};
constexpr Column images[] = {{"id", id_type, Role::own_id},
                             {"process_id", integer_or_null, Role::process_id},
                             {"device_id", integer_or_null, Role::device_id},
                             {"chip", text},
                             {"kind", text},
                             {"length", integer},
                             {"hash", text},
                             {"data", "BLOB NOT NULL"}};

// A table stands behind those that its rows refer to: a merge goes through them in this order.
constexpr Table tables[] = {{"meta", meta},
                            {"strings", strings},
                            {"processes", processes},
                            {"devices", devices},
                            {"shapes", shapes},
                            {"ranges", ranges},
                            {"kernels", kernels},
                            {"copies", copies},
                            {"sets", sets},
                            {"synchronizations", synchronizations},
                            {"api", api},
                            {"graph_nodes", graph_nodes},
                            {"counters", counters},
                            {"samples", samples},
                            {"losses", losses},
                            {"images", images}};

constexpr View views[] = {
    {"v_provenance", "SELECT key, value FROM meta ORDER BY key"},
    {"v_kernels",
     "SELECT k.id AS id, p.pid AS pid, k.process_id AS process_id, k.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, d.name AS device, k.context AS context, k.stream AS stream, k.start_ns AS "
     "start_ns, k.end_ns AS end_ns, k.end_ns - k.start_ns AS duration_ns, n.text AS name, s.grid_x "
     "AS grid_x, s.grid_y AS grid_y, s.grid_z AS grid_z, s.block_x AS block_x, s.block_y AS "
     "block_y, s.block_z AS block_z, s.cluster_x AS cluster_x, s.cluster_y AS cluster_y, "
     "s.cluster_z AS cluster_z, s.shared_static AS shared_static, s.shared_dynamic AS "
     "shared_dynamic, s.registers AS registers, k.correlation AS correlation, k.graph AS graph, "
     "k.graph_node AS graph_node, k.range_id AS range_id, rn.text AS range, k.capture_range_id AS "
     "capture_range_id FROM kernels k LEFT JOIN processes p ON p.id = k.process_id LEFT JOIN "
     "devices d ON d.id = k.device_id LEFT JOIN shapes s ON s.id = k.shape_id LEFT JOIN strings n "
     "ON n.id = s.name_id LEFT JOIN ranges r ON r.id = k.range_id LEFT JOIN strings rn ON rn.id = "
     "r.name_id ORDER BY k.start_ns, k.id"},
    {"v_copies",
     "SELECT c.id AS id, p.pid AS pid, c.process_id AS process_id, c.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, c.context AS context, c.stream AS stream, c.start_ns AS start_ns, c.end_ns "
     "AS "
     "end_ns, c.end_ns - c.start_ns AS duration_ns, c.kind AS kind, c.source_memory AS "
     "source_memory, c.target_memory AS target_memory, c.peer_device_id AS peer_device_id, c.bytes "
     "AS bytes, c.correlation AS correlation, c.graph AS graph, c.graph_node AS graph_node, "
     "c.range_id AS range_id FROM copies c LEFT JOIN processes p ON p.id = c.process_id LEFT JOIN "
     "devices d ON d.id = c.device_id ORDER BY c.start_ns, c.id"},
    {"v_sets",
     "SELECT c.id AS id, p.pid AS pid, c.process_id AS process_id, c.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, c.context AS context, c.stream AS stream, c.start_ns AS start_ns, c.end_ns "
     "AS "
     "end_ns, c.end_ns - c.start_ns AS duration_ns, c.memory AS memory, c.bytes AS bytes, c.value "
     "AS value, c.correlation AS correlation, c.graph AS graph, c.graph_node AS graph_node, "
     "c.range_id AS range_id FROM sets c LEFT JOIN processes p ON p.id = c.process_id LEFT JOIN "
     "devices d ON d.id = c.device_id ORDER BY c.start_ns, c.id"},
    {"v_synchronizations",
     "SELECT y.id AS id, p.pid AS pid, y.process_id AS process_id, y.device_id AS device_id, "
     "y.context AS context, y.stream AS stream, y.start_ns AS start_ns, y.end_ns AS end_ns, "
     "y.end_ns - y.start_ns AS duration_ns, y.kind AS kind, y.correlation AS correlation FROM "
     "synchronizations y LEFT JOIN processes p ON p.id = y.process_id ORDER BY y.start_ns, y.id"},
    {"v_api",
     "SELECT a.id AS id, p.pid AS pid, a.process_id AS process_id, a.thread AS thread, a.start_ns "
     "AS start_ns, a.end_ns AS end_ns, a.end_ns - a.start_ns AS duration_ns, n.text AS name, "
     "a.result AS result, a.correlation AS correlation, a.range_id AS range_id FROM api a LEFT "
     "JOIN "
     "processes p ON p.id = a.process_id LEFT JOIN strings n ON n.id = a.name_id ORDER BY "
     "a.start_ns, a.id"},
    {"v_ranges",
     "SELECT r.id AS id, p.pid AS pid, r.process_id AS process_id, r.thread AS thread, d.text AS "
     "domain, n.text AS name, c.text AS category, r.payload AS payload, r.kind AS kind, r.start_ns "
     "AS start_ns, r.end_ns AS end_ns, r.end_ns - r.start_ns AS duration_ns, r.parent_id AS "
     "parent_id FROM ranges r LEFT JOIN processes p ON p.id = r.process_id LEFT JOIN strings d ON "
     "d.id = r.domain_id LEFT JOIN strings n ON n.id = r.name_id LEFT JOIN strings c ON c.id = "
     "r.category_id ORDER BY r.start_ns, r.id"},
    {"v_counters",
     "SELECT c.id AS id, c.kernel_id AS kernel_id, c.shape_id AS shape_id, kn.text AS kernel, "
     "c.range_id AS range_id, "
     "rn.text AS range, c.device_id AS device_id, m.text AS metric, c.value AS value, c.unit AS "
     "unit, c.low AS low, c.high AS high, c.level AS level, c.source AS source, c.scope AS scope, "
     "c.passes AS passes, c.verdict AS verdict, c.reason AS reason FROM counters c LEFT JOIN "
     "strings m ON m.id = c.metric_id LEFT JOIN kernels k ON k.id = c.kernel_id LEFT JOIN shapes s "
     "ON s.id = coalesce(c.shape_id, k.shape_id) LEFT JOIN strings kn ON kn.id = s.name_id LEFT "
     "JOIN ranges r ON r.id = "
     "c.range_id LEFT JOIN strings rn ON rn.id = r.name_id ORDER BY c.id"},
    {"v_samples",
     "SELECT s.id AS id, p.pid AS pid, s.device_id AS device_id, d.uuid AS device_uuid, s.time_ns "
     "AS time_ns, m.text AS metric, s.value AS value, s.unit AS unit, s.source AS source FROM "
     "samples s LEFT JOIN processes p ON p.id = s.process_id LEFT JOIN devices d ON d.id = "
     "s.device_id LEFT JOIN strings m ON m.id = s.metric_id ORDER BY s.time_ns, s.id"},
    {"v_losses",
     "SELECT l.id AS id, p.pid AS pid, l.process_id AS process_id, l.collector AS collector, "
     "l.what "
     "AS what, l.count AS count, l.from_ns AS from_ns, l.to_ns AS to_ns, l.reason AS reason FROM "
     "losses l LEFT JOIN processes p ON p.id = l.process_id ORDER BY l.id"},
};

}  // namespace

std::span<const Table> profile_tables() { return tables; }

std::span<const View> profile_views() { return views; }

const Table& profile_table(std::string_view name) {
  for (const Table& table : tables) {
    if (table.name == name) return table;
  }
  throw std::logic_error(fmt::format("no table {} in {}", name, profile_schema));
}

std::string create_sql(const Table& table) {
  std::string list;
  for (const Column& column : table.columns)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", column.name, column.type);
  return fmt::format("CREATE TABLE {}({}) STRICT", table.name, list);
}

std::string create_sql(const View& view) {
  return fmt::format("CREATE VIEW {} AS {}", view.name, view.sql);
}

std::string insert_sql(const Table& table) {
  std::string places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) places += i == 0 ? "?" : ", ?";
  return fmt::format("INSERT INTO {} VALUES({})", table.name, places);
}

std::string create_indexes_sql() {
  return "CREATE INDEX kernels_by_start ON kernels(start_ns);"
         "CREATE INDEX kernels_by_shape ON kernels(shape_id);"
         "CREATE INDEX copies_by_start ON copies(start_ns);"
         "CREATE INDEX ranges_by_start ON ranges(start_ns);"
         "CREATE INDEX api_by_start ON api(start_ns);"
         "CREATE INDEX counters_by_kernel ON counters(kernel_id);"
         "CREATE INDEX counters_by_shape ON counters(shape_id);"
         "CREATE INDEX counters_by_range ON counters(range_id);"
         "CREATE INDEX samples_by_time ON samples(time_ns);";
}

}  // namespace warpmeter
