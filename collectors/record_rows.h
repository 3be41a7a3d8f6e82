// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collectors/record.h"
#include "collectors/record_pool.h"
#include "collectors/row_sink.h"

namespace warpmeter {

// Names of a process, so that a record holds a number in place of a pointer that may dangle once
// its module is unloaded. Any thread. Bounded: names beyond `max_names` or `max_bytes` share one
// id.
class NameTable {
 public:
  static constexpr std::uint32_t overflow = 0;  // "(too many names)"
  explicit NameTable(std::size_t max_names = 1 << 20, std::size_t max_bytes = 64 << 20);

  std::uint32_t intern(std::string_view name);
  // Stays valid as long as the table. Throws std::out_of_range.
  std::string_view text(std::uint32_t id) const;
  std::uint64_t overflowed() const;  // calls that got `overflow`

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  const std::size_t max_names_, max_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> names_;  // keys of ids_, which do not move
  std::size_t bytes_ = 0;
  std::uint64_t overflowed_ = 0;
};

// Records of one process to rows of one file: names and shapes to their ids in the store, 32-bit
// correlations to 64 bits, devices' ordinals to ids, times checked. The writer's thread.
class KernelRows {
 public:
  // `device_ids` by ordinal: the ids that RowSink::add(DeviceRow) gave.
  KernelRows(RowSink& sink, const NameTable& names, std::int64_t process_id,
             std::vector<std::int64_t> device_ids);

  // Replaces `rows` by those of `records`, in order. A record whose device is not known is left out
  // and counted; one without a usable time (start and end 0, or end before start) keeps its row
  // with null times and is counted.
  void convert(std::span<const KernelRecord> records, std::vector<KernelRow>& rows);

  // Adds what was counted to the losses and starts again from 0.
  void report(const DroppedRecords& dropped);

  // Shared with the records of API calls, so that both sides of a launch get the same id.
  CorrelationUnwrapper& correlations() { return correlations_; }

 private:
  std::int64_t shape_id(const KernelRecord& record);
  void lose(const char* what, std::uint64_t count, const char* reason);

  RowSink& sink_;
  const NameTable& names_;
  const std::int64_t process_id_;
  const std::vector<std::int64_t> device_ids_;
  CorrelationUnwrapper correlations_;
  std::vector<std::int64_t> name_ids_;  // by id of the NameTable; 0: not yet in the store
  struct CachedShape {
    KernelRecord record;
    std::int64_t id = 0;
  };
  std::vector<CachedShape> shapes_;  // by hash, the latest wins
  std::uint64_t without_time_ = 0, without_device_ = 0, names_lost_ = 0;
};

}  // namespace warpmeter
