// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "collectors/collector.h"
#include "collectors/nvtx_recorder.h"

namespace warpmeter {

// NVTX ranges and marks: what NvtxRecorder has taken, as rows. A range's row is written at the
// first drain after its begin and gets its end when it ends, so that rows of kernels can point to
// it meanwhile. See docs/nvtx.md.
class NvtxCollector final : public Collector {
 public:
  // At most `buffer_bytes` wait for drain(), of all threads together. Throws InputError if
  // warpmeter was built without NVTX's headers.
  explicit NvtxCollector(const Target& target, std::size_t buffer_bytes = std::size_t{64} << 20);
  ~NvtxCollector() override;

  std::string_view name() const override { return "nvtx"; }
  void arm() override;
  void disarm() noexcept override;
  std::size_t drain(RowSink& sink) override;
  Json describe() const override;

  // The row of a token of nvtx_current_range(): drains first if the range is newer than the last
  // drain. Nothing if its row was lost or is forgotten, which drain() counts. Of the ranges that
  // have ended, the last 2^20 whose tokens were told are known. Writer thread.
  std::optional<std::int64_t> row_of(std::uint64_t token, RowSink& sink);

 private:
  struct Row {
    std::int64_t id = 0;  // 0: the sink lost it
    bool ended = false;   // written with its end
  };

  void read(std::span<const std::byte> records, RowSink& sink);
  void begin(std::span<const std::byte> record, RowSink& sink);
  void end(const NvtxEnd& end, RowSink& sink);
  void write_losses(const NvtxLosses& losses, RowSink& sink);
  void forget_ended();

  const Target target_;
  const std::size_t buffer_bytes_;
  std::unordered_map<std::uint64_t, Row> rows_;           // by token: of open ranges, and of these:
  std::deque<std::uint64_t> asked_;                       // ended, told by nvtx_current_range()
  std::vector<std::uint64_t> just_ended_, ended_before_;  // in this drain, and the one before
  std::unordered_map<std::uint64_t, std::int64_t> ends_;  // of the records that are being read
  std::size_t written_ = 0;                               // rows of this drain
  std::uint64_t unknown_ = 0, last_unknown_ = 0;          // tokens without a row
};

}  // namespace warpmeter
