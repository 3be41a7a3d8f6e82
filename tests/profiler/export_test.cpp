// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Exports of the planted store, parsed back and compared with what was planted.
#include "profiler/export.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error.h"
#include "profiler/schema.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

class Export : public testing::Test {
 protected:
  Export() { write_planted_store(folder / "x"); }
  ScratchFolder folder;
};

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<Json> events(const Json& trace, const std::string& phase, const std::string& category) {
  std::vector<Json> found;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == phase && event.value("cat", "") == category) found.push_back(event);
  return found;
}

TEST_F(Export, TraceHoldsKernelsInMicroseconds) {
  EXPECT_EQ(export_trace(ProfileReader(folder / "x"), folder / "trace"), 1);
  const std::string text = content(folder / "trace");
  const Json trace = Json::parse(text);
  EXPECT_EQ(trace.at("otherData").at("without_time"), 1);
  EXPECT_EQ(trace.at("otherData").at("source"), "emulated");
  const auto kernels = events(trace, "X", "kernel");
  ASSERT_EQ(kernels.size(), 1u);
  const Json& kernel = kernels.front();
  EXPECT_NE(text.find("\"ts\":1234.567,\"dur\":5.432,"), std::string::npos);  // exactly
  EXPECT_EQ(kernel.at("ts"), 1234.567);
  EXPECT_EQ(kernel.at("dur"), 5.432);
  EXPECT_EQ(kernel.at("name"), "gemm<\"bf16\">");
  EXPECT_EQ(kernel.at("args").at("grid"), (Json{7, 2, 3}));
  EXPECT_EQ(kernel.at("args").at("correlation"), 4294967301);
  EXPECT_EQ(kernel.at("args").at("range"), "step, \"decode\"");
  EXPECT_EQ(kernel.at("args").at("dram.bytes.read [B]"), 1.5e6);
}

TEST_F(Export, TraceNamesTheTracksOfItsSlices) {
  export_trace(ProfileReader(folder / "x"), folder / "trace");
  const Json trace = Json::parse(content(folder / "trace"));
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> threads;
  std::map<std::int64_t, std::string> groups;
  for (const Json& event : events(trace, "M", "")) {
    const std::string name = event.at("args").at("name");
    if (event.at("name") == "thread_name") threads[{event.at("pid"), event.at("tid")}] = name;
    if (event.at("name") == "process_name") groups[event.at("pid")] = name;
  }
  const auto where = [&](const Json& event) {
    return groups[event.at("pid")] + ": " + threads[{event.at("pid"), event.at("tid")}];
  };
  EXPECT_EQ(where(events(trace, "X", "kernel").front()),
            "Planted GPU GPU-1: stream 7 context 1 pid 4242");
  const auto memory = events(trace, "X", "memory");
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(where(memory[0]), "Planted GPU GPU-1: stream 8 context 1 pid 4242");
  EXPECT_EQ(memory[0].at("name"), "host_to_device");
  EXPECT_EQ(memory[0].at("args").at("bytes"), 65536);
  EXPECT_EQ(memory[1].at("dur"), 0.256);
  const auto calls = events(trace, "X", "api");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(groups[calls[0].at("pid")], "python serve.py (pid 4242)");
  EXPECT_EQ(calls[0].at("tid"), 77);
  EXPECT_EQ(calls[0].at("dur"), 3.0);
}

TEST_F(Export, TraceHoldsRangesSamplesAndLosses) {
  export_trace(ProfileReader(folder / "x"), folder / "trace");
  const Json trace = Json::parse(content(folder / "trace"));
  const auto ranges = events(trace, "X", "range");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].at("ts"), 1000.001);
  EXPECT_EQ(ranges[0].at("dur"), 900.004);
  EXPECT_EQ(ranges[0].at("args").at("domain"), "llm");
  EXPECT_EQ(ranges[0].at("args").at("payload"), "{\"batch\":8}");
  EXPECT_EQ(events(trace, "b", "range").size(), 1u);
  EXPECT_TRUE(events(trace, "e", "range").empty());  // it was open at the end
  std::vector<double> values, times;
  for (const Json& sample : events(trace, "C", "")) {
    EXPECT_EQ(sample.at("name"), "sm.active [1]");
    values.push_back(sample.at("args").at("value"));
    times.push_back(sample.at("ts"));
  }
  EXPECT_EQ(values, (std::vector<double>{0, 0.25, 0.5}));
  EXPECT_EQ(times, (std::vector<double>{1200, 1201, 1202}));
  const auto losses = events(trace, "i", "loss");
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].at("args").at("count"), 17);
  EXPECT_EQ(losses[0].at("ts"), 1700.0);
  EXPECT_EQ(trace.at("otherData").at("losses").size(), 1u);
}

// Kernels of one stream that overlap without nesting must not share a track.
TEST_F(Export, TraceGivesOverlappingKernelsLanesOfTheirOwn) {
  {
    ProfileWriter w(folder / "overlap", {});
    KernelRow row;
    row.process_id = w.add(ProcessRow{});
    row.device_id = w.add(DeviceRow{});
    Shape shape;
    shape.name_id = w.string("k");
    row.shape_id = w.shape(shape);
    for (const auto& [start, end] : {std::pair{0, 100}, {90, 200}, {100, 150}, {200, 300}}) {
      row.start_ns = start;
      row.end_ns = end;
      w.add(row);
    }
    w.finish();
  }
  export_trace(ProfileReader(folder / "overlap"), folder / "trace");
  std::vector<int> lanes;
  for (const Json& kernel : events(Json::parse(content(folder / "trace")), "X", "kernel"))
    lanes.push_back(kernel.at("tid"));
  EXPECT_EQ(lanes, (std::vector<int>{1, 2, 1, 1}));
}

TEST_F(Export, JsonHoldsEveryCellOfEveryView) {
  const ProfileReader reader(folder / "x");
  export_json(reader, folder / "json");
  const Json document = Json::parse(content(folder / "json"));
  EXPECT_EQ(document.at("schema"), "warpmeter.profile/1");
  EXPECT_EQ(document.at("source"), "emulated");
  EXPECT_EQ(document.at("views").size(), profile_views().size());
  for (const View& view : profile_views()) {
    const Json& rows = document.at("views").at(view.name);
    const auto columns = reader.columns(view.name);
    std::size_t index = 0;
    reader.scan(view.name, columns, [&](const ProfileRow& row) {
      ASSERT_LT(index, rows.size());
      const Json& object = rows[index++];
      EXPECT_EQ(object.size(), columns.size());
      for (int i = 0; i < std::ssize(columns); ++i) {
        const Json& value = object.at(columns[i]);
        const sqlite::Cell cell = row.cell(i);
        if (std::holds_alternative<std::nullptr_t>(cell)) {
          EXPECT_TRUE(value.is_null());
        } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
          EXPECT_EQ(value, std::string(*text));
        } else if (const auto* number = std::get_if<double>(&cell)) {
          EXPECT_EQ(value, *number);
        } else {
          EXPECT_EQ(value, std::get<std::int64_t>(cell));
        }
      }
    });
    EXPECT_EQ(index, rows.size());
    EXPECT_GT(index, 0u) << view.name;
  }
}

// Fields of RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      rows.back().emplace_back();
    } else if (!inside && c == '\n') {
      rows.emplace_back(1);
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST_F(Export, CsvHoldsEveryView) {
  const ProfileReader reader(folder / "x");
  export_csv(reader, folder / "csv");
  for (const View& view : profile_views()) {
    const auto rows = parse_csv(content(folder / fmt::format("csv/{}.csv", view.name)));
    ASSERT_EQ(std::ssize(rows), 1 + reader.count(view.name)) << view.name;
    EXPECT_EQ(rows[0], reader.columns(view.name));
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  }
  EXPECT_EQ(
      parse_csv(content(folder / "csv/v_ranges.csv"))[1],
      (std::vector<std::string>{"1", "4242", "1", "77", "llm", "step, \"decode\"", "phase",
                                "{\"batch\":8}", "push_pop", "1000001", "1900005", "900004", ""}));
}

TEST_F(Export, RefusesOutputsThatAreThereOrCannotBe) {
  const ProfileReader reader(folder / "x");
  EXPECT_NE(refusal_of([&] { export_csv(reader, folder / "x"); }).find("it is there"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { export_json(reader, folder / "x"); }).find("it is there"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { export_trace(reader, folder / "no/x"); }).find("make the folder"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { export_json(reader, "/dev/full/x"); }).find("cannot write"),
            std::string::npos);
}

}  // namespace
}  // namespace warpmeter
