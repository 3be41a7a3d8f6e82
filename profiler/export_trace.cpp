// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Chrome's trace event format: "Trace Event Format", Google, 2016 (public document), phases X, B,
// b, e, i, C and M. Perfetto's documentation says that it reads them.
#include <fmt/format.h>

#include <map>
#include <ostream>
#include <tuple>

#include "profiler/export.h"
#include "profiler/schema.h"

namespace warpmeter {
namespace {

// The format's `pid` groups tracks. Rows' ids are used, not pids of the system, which repeat
// between hosts; devices stand behind all processes.
constexpr std::int64_t first_device = 1'000'000'000;

// Nanoseconds as microseconds, exactly.
std::string microseconds(std::int64_t ns) {
  const std::string sign = ns < 0 ? "-" : "";
  const std::uint64_t size =
      ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

std::string json_string(std::string_view text) { return json_text(text); }

class TraceWriter {
 public:
  TraceWriter(const ProfileReader& reader, std::ostream& out) : reader_(reader), out_(out) {}

  std::int64_t write() {
    out_ << "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[";
    name_groups();
    read_kernel_counters();
    kernels();
    memory("v_copies", "kind");
    memory("v_sets", "'set'");
    calls();
    ranges();
    samples();
    const std::string lost = losses();
    out_ << "],\n\"otherData\":{\"schema\":" << json_string(profile_schema)
         << ",\"source\":" << json_string(to_string(reader_.source()))
         << ",\"complete\":" << (reader_.complete() ? "true" : "false")
         << ",\"without_time\":" << without_time_ << ",\"losses\":[" << lost << ']';
    for (const char* key : {"tool", "host", "provenance"})
      out_ << ",\"" << key
           << "\":" << reader_.meta(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    out_ << "}}\n";
    return without_time_;
  }

 private:
  struct Stream {  // its lanes' trace threads and the ends of their last slices
    std::vector<std::pair<std::int64_t, std::int64_t>> lanes;
  };
  using StreamKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  void event(const std::string& text) {
    out_ << std::exchange(between_, ",") << "\n{" << text << '}';
  }

  void name(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view text) {
    event(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}})", what, pid,
                      tid, json_string(text)));
  }

  void name_groups() {
    reader_.scan("processes", {"id", "pid", "command"}, [&](const ProfileRow& row) {
      name("process_name", row.integer(0), 0,
           fmt::format("{} (pid {})", row.text(2), row.integer(1)));
      pids_[row.integer(0)] = row.integer(1);
    });
    reader_.scan("devices", {"id", "name", "uuid"}, [&](const ProfileRow& row) {
      name("process_name", first_device + row.integer(0), 0,
           fmt::format("{} {}", row.text(1), row.optional_text(2).value_or("(no UUID)")));
    });
  }

  // The first lane whose last slice has ended.
  std::int64_t lane(const StreamKey& key, std::int64_t start, std::int64_t end) {
    Stream& stream = streams_[key];
    for (auto& [tid, busy_until] : stream.lanes) {
      if (busy_until > start) continue;
      busy_until = end;
      return tid;
    }
    const std::int64_t tid = ++last_tid_;
    const auto& [device, process, context, id] = key;
    name("thread_name", first_device + device, tid,
         fmt::format("stream {} context {} pid {}{}", id, context, pids_[process],
                     stream.lanes.empty() ? "" : fmt::format(" lane {}", stream.lanes.size() + 1)));
    stream.lanes.emplace_back(tid, end);
    return tid;
  }

  void slice(std::int64_t pid, std::int64_t tid, std::string_view category, std::string_view text,
             std::int64_t start, std::int64_t end, const std::string& arguments) {
    event(fmt::format(
        R"("ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
        category, json_string(text), pid, tid, microseconds(start), microseconds(end - start),
        arguments));
  }

  void read_kernel_counters() {
    reader_.scan(
        "v_counters", {"kernel_id", "metric", "value", "unit"}, [&](const ProfileRow& row) {
          if (!row.optional_integer(0)) return;
          counters_[row.integer(0)] +=
              fmt::format(",{}:{}", json_string(fmt::format("{} [{}]", row.text(1), row.text(3))),
                          json_text(row.cell(2)));
        });
  }

  // Columns 0 to 5: device_id, process_id, context, stream, start_ns, end_ns. No slice without
  // time.
  void device_slice(const ProfileRow& row, std::string_view category, std::string_view text,
                    const std::string& arguments) {
    const auto start = row.optional_integer(4), end = row.optional_integer(5);
    if (!start || !end) {
      ++without_time_;
      return;
    }
    const StreamKey key{row.integer(0), row.integer(1), row.optional_integer(2).value_or(0),
                        row.optional_integer(3).value_or(0)};
    slice(first_device + row.integer(0), lane(key, *start, *end), category, text, *start, *end,
          arguments);
  }

  void kernels() {
    reader_.scan(
        "v_kernels",
        {"device_id", "process_id", "context", "stream", "start_ns", "end_ns", "name", "grid_x",
         "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers", "correlation", "graph",
         "graph_node", "range", "id"},
        [&](const ProfileRow& row) {
          std::string arguments =
              fmt::format(R"("grid":[{},{},{}],"block":[{},{},{}])", json_text(row.cell(7)),
                          json_text(row.cell(8)), json_text(row.cell(9)), json_text(row.cell(10)),
                          json_text(row.cell(11)), json_text(row.cell(12)));
          int column = 13;
          for (const char* key : {"registers", "correlation", "graph", "graph_node", "range"})
            arguments += fmt::format(",\"{}\":{}", key, json_text(row.cell(column++)));
          const auto counted = counters_.find(row.integer(18));
          if (counted != counters_.end()) arguments += counted->second;
          device_slice(row, "kernel", row.text(6), arguments);
        });
  }

  void memory(std::string_view view, std::string_view label) {
    reader_.scan(view,
                 {"device_id", "process_id", "context", "stream", "start_ns", "end_ns", label,
                  "bytes", "correlation"},
                 [&](const ProfileRow& row) {
                   device_slice(row, "memory", row.text(6),
                                fmt::format(R"("bytes":{},"correlation":{})",
                                            json_text(row.cell(7)), json_text(row.cell(8))));
                 });
  }

  void calls() {
    reader_.scan("v_api", {"process_id", "thread", "start_ns", "end_ns", "name", "correlation"},
                 [&](const ProfileRow& row) {
                   slice(row.integer(0), row.integer(1), "api", row.text(4), row.integer(2),
                         row.integer(3),
                         fmt::format(R"("correlation":{})", json_text(row.cell(5))));
                 });
  }

  void ranges() {
    reader_.scan(
        "v_ranges",
        {"process_id", "thread", "start_ns", "end_ns", "name", "kind", "domain", "category",
         "payload", "id"},
        [&](const ProfileRow& row) {
          const std::int64_t pid = row.integer(0), tid = row.optional_integer(1).value_or(0);
          const auto end = row.optional_integer(3);
          const std::string head = fmt::format(
              R"("cat":"range","name":{},"pid":{},"tid":{},"ts":{},"args":{{"domain":{},"category":{},"payload":{}}})",
              json_string(row.text(4)), pid, tid, microseconds(row.integer(2)),
              json_text(row.cell(6)), json_text(row.cell(7)), json_text(row.cell(8)));
          if (row.text(5) == "mark") return event(R"("ph":"i","s":"t",)" + head);
          if (row.text(5) == "start_end") {
            event(fmt::format(R"("ph":"b","id":{},)", row.integer(9)) + head);
            if (end)
              event(fmt::format(
                  R"("ph":"e","id":{},"cat":"range","name":{},"pid":{},"tid":{},"ts":{})",
                  row.integer(9), json_string(row.text(4)), pid, tid, microseconds(*end)));
            return;
          }
          if (!end) return event(R"("ph":"B",)" + head);  // open at the end of the recording
          event(fmt::format(R"("ph":"X","dur":{},)", microseconds(*end - row.integer(2))) + head);
        });
  }

  void samples() {
    reader_.scan(
        "v_samples", {"device_id", "time_ns", "metric", "value", "unit"},
        [&](const ProfileRow& row) {
          if (!row.optional_real(3)) return;
          event(fmt::format(R"("ph":"C","name":{},"pid":{},"tid":0,"ts":{},"args":{{"value":{}}})",
                            json_string(fmt::format("{} [{}]", row.text(2), row.text(4))),
                            first_device + row.integer(0), microseconds(row.integer(1)),
                            json_text(row.cell(3))));
        });
  }

  // All of them, in `otherData`; and those with a time as instants.
  std::string losses() {
    std::string list;
    reader_.scan(
        "v_losses", {"process_id", "collector", "what", "count", "from_ns", "to_ns", "reason"},
        [&](const ProfileRow& row) {
          const std::string text = fmt::format(
              R"("collector":{},"what":{},"count":{},"from_ns":{},"to_ns":{},"reason":{})",
              json_text(row.cell(1)), json_text(row.cell(2)), json_text(row.cell(3)),
              json_text(row.cell(4)), json_text(row.cell(5)), json_text(row.cell(6)));
          list += (list.empty() ? "{" : ",{") + text + '}';
          if (!row.optional_integer(4)) return;
          event(fmt::format(
              R"("ph":"i","s":"g","cat":"loss","name":{},"pid":{},"tid":0,"ts":{},"args":{{{}}})",
              json_string(fmt::format("lost: {}", row.text(2))),
              row.optional_integer(0).value_or(0), microseconds(row.integer(4)), text));
        });
    return list;
  }

  const ProfileReader& reader_;
  std::ostream& out_;
  const char* between_ = "";
  std::map<std::int64_t, std::int64_t> pids_;
  std::map<StreamKey, Stream> streams_;
  std::map<std::int64_t, std::string> counters_;
  std::int64_t last_tid_ = 0, without_time_ = 0;
};

}  // namespace

std::int64_t export_trace(const ProfileReader& reader, const std::filesystem::path& out) {
  std::int64_t without_time = 0;
  write_new_file(out,
                 [&](std::ostream& stream) { without_time = TraceWriter(reader, stream).write(); });
  return without_time;
}

}  // namespace warpmeter
