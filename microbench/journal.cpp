// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace warpmeter {
namespace {

void append_line(const std::filesystem::path& file, const Json& line, std::ios::openmode mode) {
  std::ofstream out(file, std::ios::binary | mode);
  out << line.dump() << '\n' << std::flush;
  if (!out)
    throw InputError(fmt::format("cannot write {}: {}; free space or choose a writable folder",
                                 file.string(), std::strerror(errno)));
}

}  // namespace

Journal::Journal(std::filesystem::path file, const Json& job, Existing existing)
    : file_(std::move(file)) {
  if (std::filesystem::exists(file_)) {
    if (existing == Existing::refuse) {
      throw InputError(fmt::format(
          "{} holds an interrupted run: add --resume to go on with it or --fresh to discard it",
          file_.string()));
    }
    if (existing == Existing::resume) {
      load(job);
      return;
    }
  }
  append_line(file_, job, std::ios::trunc);
}

void Journal::load(const Json& job) {
  std::ifstream in(file_, std::ios::binary);
  std::string line;
  std::getline(in, line);
  if (Json::parse(line, nullptr, false) != job) {
    throw InputError(
        fmt::format("{} is of a run with other options or another version: repeat those options, "
                    "or use --fresh to discard it",
                    file_.string()));
  }
  std::string whole = line + "\n";
  while (std::getline(in, line)) {
    const Json entry = Json::parse(line, nullptr, false);
    if (in.eof() || entry.is_discarded()) break;  // no newline at its end: it was being written
    finished_[require_string(entry, "id", file_.string())].push_back(
        campaign_from_json(require(entry, "campaign", file_.string()), file_.string()));
    whole += line + "\n";
  }
  write_atomically(file_, whole);  // without the cut line
}

const std::vector<Campaign>& Journal::finished(const std::string& id) const {
  static const std::vector<Campaign> none;
  const auto found = finished_.find(id);
  return found == finished_.end() ? none : found->second;
}

void Journal::append(const std::string& id, const Campaign& campaign) {
  append_line(file_, Json{{"id", id}, {"campaign", to_json(campaign)}}, std::ios::app);
}

void Journal::remove() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace warpmeter
