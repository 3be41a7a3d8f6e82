// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "collectors/row_sink.h"
#include "core/json.h"
#include "core/run.h"

namespace warpmeter {

namespace sqlite {
class Connection;
class Statement;
}  // namespace sqlite

// What stands in `meta` of a profile.
struct ProfileHeader {
  Source source = Source::measured;
  Json tool = Json::object();        // core/provenance.h
  Json host = Json::object();        // core/provenance.h
  Json provenance = Json::object();  // collectors, options, what was refused, overhead
};

// Writes a *.profile.sqlite. Rows go into FILE.partial, which finish() renames to FILE. Rows since
// the last flush() are one transaction: a killed writer leaves FILE.partial with all that was
// flushed, readable by ProfileReader. Memory is bounded: SQLite's page cache of 8 MiB and caches of
// strings and shapes that are emptied when they are full.
//
// A full disk in mid-run ends the recording, not the process: rows that are lost are counted per
// table and written as `losses` (room for them is reserved at the start). One thread at a time.
// A forked child must not call it; its copy's destructor leaves the parent's file alone.
class ProfileWriter final : public RowSink {
 public:
  // Throws InputError, one line, if FILE or FILE.partial is there or FILE.partial cannot be made.
  ProfileWriter(const std::filesystem::path& file, const ProfileHeader& header);
  // Without finish() the rows of the open transaction are lost and FILE.partial stays.
  ~ProfileWriter() override;
  ProfileWriter(const ProfileWriter&) = delete;
  ProfileWriter& operator=(const ProfileWriter&) = delete;

  // Each returns the row's id. Throws InputError for a row that the schema refuses. After the disk
  // was full they count the row as lost and return 0; strings and shapes are not counted, because
  // the rows that need them are.
  std::int64_t string(std::string_view text) override;  // the id of this text, made if it is new
  std::int64_t shape(const Shape& shape) override;      // the id of this shape, made if it is new
  std::int64_t add(const ProcessRow& row) override;
  std::int64_t add(const DeviceRow& row) override;
  std::int64_t add(const KernelRow& row) override;
  std::int64_t add(const CopyRow& row) override;
  std::int64_t add(const SetRow& row) override;
  std::int64_t add(const SynchronizationRow& row) override;
  std::int64_t add(const ApiRow& row) override;
  std::int64_t add(const GraphNodeRow& row) override;
  std::int64_t add(const RangeRow& row) override;
  std::int64_t add(
      const CounterRow& row) override;  // a value that is not finite becomes null with a reason
  std::int64_t add(const SampleRow& row) override;
  std::int64_t add(const PcSampleRow& row) override;
  std::int64_t add(const LossRow& row) override;
  std::int64_t add(const ImageRow& row) override;
  // Lost, and counted as "ends of ranges", after the disk was full.
  void end_range(std::int64_t id, std::int64_t end_ns) override;

  // Replaces `provenance` in meta.
  void set_provenance(const Json& provenance);

  void flush();

  // Writes losses and indexes and renames to FILE. Throws InputError if FILE has appeared meanwhile
  // or the file cannot be completed; FILE.partial stays then. At most once.
  void finish();

  // Ends without a file: FILE.partial is removed. Nothing else may be called after it.
  void discard();

  // Why the recording ended early; empty while it goes on.
  const std::string& failure() const;
  // Rows lost to that, by table.
  const std::map<std::string, std::int64_t, std::less<>>& lost() const;

 private:
  friend class ShardMerge;  // fills the file by SQL
  struct State;
  template <typename... T>
  std::int64_t insert(int table, const T&... values);
  sqlite::Connection& connection();
  std::unique_ptr<State> state_;
};

// "fnv1a64:%016x" of the bytes: Fowler, Noll and Vo's hash 1a, 64 bit. It finds damage and equal
// images; it is no defence against forgery.
std::string image_hash(std::span<const std::byte> data);

}  // namespace warpmeter
