// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/export.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "core/error.h"
#include "profiler/partial_file.h"
#include "profiler/schema.h"

namespace warpmeter {
namespace {

std::string csv_text(const sqlite::Cell& cell) {
  const auto* text = std::get_if<std::string_view>(&cell);
  if (text == nullptr) {
    const std::string number = json_text(cell);
    return number == "null" ? "" : number;
  }
  if (!text->empty() && text->find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(*text);
  std::string quoted = "\"";
  for (const char c : *text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void write_csv(const ProfileReader& reader, std::string_view view, std::ostream& out) {
  const std::vector<std::string> columns = reader.columns(view);
  out << fmt::format("{}\n", fmt::join(columns, ","));
  reader.scan(view, columns, [&](const ProfileRow& row) {
    for (int i = 0; i < std::ssize(columns); ++i)
      out << (i == 0 ? "" : ",") << csv_text(row.cell(i));
    out << '\n';
  });
}

void write_json_rows(const ProfileReader& reader, std::string_view view, std::ostream& out) {
  const std::vector<std::string> columns = reader.columns(view);
  const char* between = "";
  reader.scan(view, columns, [&](const ProfileRow& row) {
    out << std::exchange(between, ",") << "\n{";
    for (int i = 0; i < std::ssize(columns); ++i)
      out << (i == 0 ? "" : ",") << '"' << columns[i] << "\":" << json_text(row.cell(i));
    out << '}';
  });
}

}  // namespace

std::string json_text(const sqlite::Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&cell)) return Json(*number).dump();
  if (const auto* text = std::get_if<std::string_view>(&cell))
    return Json(*text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return "null";
}

void write_new_file(const std::filesystem::path& out,
                    const std::function<void(std::ostream&)>& write) {
  PartialFile file(out);
  try {
    std::ofstream stream(file.partial(), std::ios::binary | std::ios::trunc);
    write(stream);
    stream.close();
    if (!stream)
      throw InputError(fmt::format("cannot write {}: free space or write elsewhere", out.string()));
    file.commit();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(file.partial(), ignored);
    throw;
  }
}

void export_csv(const ProfileReader& reader, const std::filesystem::path& out) {
  std::filesystem::path partial = out;
  partial += ".partial";
  std::error_code error;
  if (std::filesystem::exists(out, error))
    throw InputError(fmt::format("cannot write {}: it is there; name another folder or remove it",
                                 out.string()));
  if (!std::filesystem::create_directory(partial, error))
    throw InputError(fmt::format("cannot make the folder {}: {}", partial.string(),
                                 error ? error.message() : "it is there; remove it"));
  try {
    for (const View& view : profile_views())
      write_new_file(partial / (std::string(view.name) + ".csv"),
                     [&](std::ostream& stream) { write_csv(reader, view.name, stream); });
    std::filesystem::rename(partial, out, error);
    if (error) throw InputError(fmt::format("cannot write {}: {}", out.string(), error.message()));
  } catch (...) {
    std::filesystem::remove_all(partial, error);
    throw;
  }
}

void export_json(const ProfileReader& reader, const std::filesystem::path& out) {
  write_new_file(out, [&](std::ostream& stream) {
    stream << fmt::format("{{\"schema\":\"{}\",\n\"source\":\"{}\",\n\"views\":{{", profile_schema,
                          to_string(reader.source()));
    const char* between = "";
    for (const View& view : profile_views()) {
      stream << std::exchange(between, ",") << "\n\"" << view.name << "\":[";
      write_json_rows(reader, view.name, stream);
      stream << ']';
    }
    stream << "}}\n";
  });
}

}  // namespace warpmeter
