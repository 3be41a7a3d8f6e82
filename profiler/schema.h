// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpmeter {

inline constexpr std::string_view profile_schema = "warpmeter.profile/1";
inline constexpr int profile_application_id = 0x77726d70;  // "wrmp", in the file's header
inline constexpr int profile_user_version = 1;

// What a column's value means to a merge of files.
enum class Role {
  plain,       // copied
  time,        // nanoseconds of the process's clock: the process's offset is added
  own_id,      // the row's id: moved behind the ids that are there
  string_id,   // of `strings`, mapped by text
  process_id,  // of `processes`, always a new one
  device_id,   // of `devices`, mapped by UUID
  shape_id,    // of `shapes`, mapped by all columns
  kernel_id,   // of `kernels`, moved like own_id
  range_id,    // of `ranges`, moved like own_id
};

struct Column {
  std::string_view name;
  std::string_view type;  // SQL: "INTEGER NOT NULL"
  Role role = Role::plain;
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;
};

struct View {
  std::string_view name;
  std::string_view sql;
};

// docs/profile_schema.md explains them; a test compares.
std::span<const Table> profile_tables();
std::span<const View> profile_views();
const Table& profile_table(std::string_view name);  // Throws std::logic_error for another name.

std::string create_sql(const Table& table);
std::string create_sql(const View& view);
std::string insert_sql(const Table& table);  // all columns in order, one parameter each

// Made when a file is finished: inserting into a table without them is faster, and a file without
// them is only slower to read.
std::string create_indexes_sql();

}  // namespace warpmeter
