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
constexpr Column pc_samples[] = {{"id", id_type, Role::own_id},
                                 {"process_id", integer, Role::process_id},
                                 {"device_id", integer, Role::device_id},
                                 {"function_id", integer, Role::string_id},
                                 {"cubin_crc", integer},
                                 {"pc_offset", integer},
                                 {"reason_id", integer, Role::string_id},
                                 {"samples", integer}};
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
                            {"pc_samples", pc_samples},
                            {"losses", losses},
                            {"images", images}};

}  // namespace

std::span<const Table> profile_tables() { return tables; }

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
