// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_collector.h"

#include <array>
#include <cstring>

#include "collectors/nvtx_handler.h"
#include "collectors/nvtx_text.h"
#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::size_t max_asked = std::size_t{1} << 20;
constexpr std::array<std::string_view, 3> kinds{"push_pop", "start_end", "mark"};

template <typename Record>
Record load(std::span<const std::byte> bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  return record;
}

template <typename Use>
void for_each_record(std::span<const std::byte> records, Use&& use) {
  while (!records.empty()) {
    const auto head = load<NvtxRecordHead>(records);
    use(head, records.first(head.bytes));
    records = records.subspan(head.bytes);
  }
}

}  // namespace

NvtxCollector::NvtxCollector(const Target& target, std::size_t buffer_bytes)
    : target_(target), buffer_bytes_(buffer_bytes) {
  if (!nvtx_built_in())
    throw InputError(
        "nvtx: warpmeter was built without NVTX's headers: install those of the CUDA toolkit, and "
        "configure and build again");
}

NvtxCollector::~NvtxCollector() { disarm(); }

void NvtxCollector::arm() { NvtxRecorder::instance().arm(buffer_bytes_); }

void NvtxCollector::disarm() noexcept { NvtxRecorder::instance().disarm(); }

std::size_t NvtxCollector::drain(RowSink& sink) {
  written_ = 0;
  const NvtxLosses losses = NvtxRecorder::instance().take(
      [&](std::span<const std::byte> records) { read(records, sink); });
  forget_ended();
  write_losses(losses, sink);
  return written_;
}

// A range's begin and end are in one stream. Most ranges end before their begin is read: one row.
void NvtxCollector::read(std::span<const std::byte> records, RowSink& sink) {
  ends_.clear();
  for_each_record(records, [&](const NvtxRecordHead& head, std::span<const std::byte> record) {
    if (head.type == NvtxRecordType::end) ends_[head.token] = load<NvtxEnd>(record).end_ns;
  });
  for_each_record(records, [&](const NvtxRecordHead& head, std::span<const std::byte> record) {
    head.type == NvtxRecordType::begin ? begin(record, sink) : end(load<NvtxEnd>(record), sink);
  });
}

void NvtxCollector::begin(std::span<const std::byte> record, RowSink& sink) {
  const auto begin = load<NvtxBegin>(record);
  const NvtxNames& names = NvtxRecorder::instance().names;
  const auto bytes = record.subspan(sizeof(begin));
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), begin.message);
  const auto end = ends_.find(begin.head.token);
  RangeRow row;
  row.process_id = target_.process_id;
  row.thread = begin.thread;
  if (begin.domain != 0) row.domain_id = sink.string(names.domain_name(begin.domain));
  row.name_id = begin.registered == 0 ? sink.string(nvtx_utf8(message))
                                      : sink.string(names.registered(begin.registered));
  if (begin.category != 0)
    row.category_id = sink.string(names.category(begin.domain, begin.category));
  std::string payload;
  if (begin.form != NvtxPayload::none)
    row.payload = payload = names.payload(begin.form, begin.bits, bytes.subspan(begin.message));
  row.kind = kinds[static_cast<std::size_t>(begin.kind)];
  row.start_ns = begin.start_ns;
  if (end != ends_.end()) row.end_ns = end->second;
  if (const auto parent = rows_.find(begin.parent); parent != rows_.end() && parent->second.id != 0)
    row.parent_id = parent->second.id;
  const std::int64_t id = sink.add(row);
  ++written_;
  if (begin.kind != NvtxKind::mark) rows_[begin.head.token] = {id, row.end_ns.has_value()};
}

void NvtxCollector::end(const NvtxEnd& end, RowSink& sink) {
  const auto row = rows_.find(end.head.token);
  if (row == rows_.end()) return;  // of a collector that was there before this one
  if (end.head.type == NvtxRecordType::end && !row->second.ended && row->second.id != 0)
    sink.end_range(row->second.id, end.end_ns);
  if (end.asked == 0) {
    just_ended_.push_back(end.head.token);
    return;
  }
  asked_.push_back(end.head.token);
  if (asked_.size() > max_asked) {
    rows_.erase(asked_.front());
    asked_.pop_front();
  }
}

// A started range may still name one that has ended as its parent if it began after its stream was
// read and before that of its thread: it comes with the next drain.
void NvtxCollector::forget_ended() {
  for (const std::uint64_t token : ended_before_) rows_.erase(token);
  ended_before_.clear();
  std::swap(ended_before_, just_ended_);
}

std::optional<std::int64_t> NvtxCollector::row_of(std::uint64_t token, RowSink& sink) {
  if (token == 0) return std::nullopt;
  auto row = rows_.find(token);
  if (row == rows_.end() && token != last_unknown_) {
    drain(sink);
    row = rows_.find(token);
  }
  if (row != rows_.end() && row->second.id != 0) return row->second.id;
  last_unknown_ = token;
  ++unknown_;
  return std::nullopt;
}

void NvtxCollector::write_losses(const NvtxLosses& losses, RowSink& sink) {
  const auto write = [&](std::string_view what, std::uint64_t count, std::string_view reason,
                         OptionalNs from = {}, OptionalNs to = {}) {
    if (count == 0) return;
    sink.add(LossRow{target_.process_id, name(), what, static_cast<std::int64_t>(count), from, to,
                     reason});
    ++written_;
  };
  write("ranges", losses.ranges, "no room until the next drain, or too many were open",
        losses.from_ns, losses.to_ns);
  write("pops", losses.pops, "without a push in their thread and domain");
  write("ends", losses.ends, "of an id that is not that of an open range");
  write("messages", losses.cut, "longer than 4096 bytes: cut");
  write("calls", losses.failed, "not enough memory");
  write("names", NvtxRecorder::instance().names.take_refused(), "too many were registered");
  write("range_id", std::exchange(unknown_, 0), "the range's row was lost or is forgotten");
}

Json NvtxCollector::describe() const {
  Json threads = Json::object();
  for (const auto& [id, name] : NvtxRecorder::instance().names.threads())
    threads[std::to_string(id)] = name;
  return {{"buffer_bytes", buffer_bytes_},
          {"max_message_bytes", nvtx_max_message},
          {"max_payload_bytes", nvtx_max_payload},
          {"threads", threads}};
}

}  // namespace warpmeter
