// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// From shards with samples and launches to counters of shapes in the merged file.
#include "profiler/attribute_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "profiler/merge.h"
#include "profiler/profile_reader.h"
#include "tests/profiler/planted.h"
#include "tests/profiler/pm_simulation.h"

namespace warpmeter {
namespace {

constexpr std::int64_t epoch = 5000000000;

// A shard of one process on one device: its launches, and, if it sampled, the samples.
void write_recording(const std::filesystem::path& file, std::int64_t pid, std::int64_t clock_offset,
                     const PmRecording& recording, bool samples, std::int32_t first_group,
                     std::int32_t groups) {
  ProfileWriter w(file, {});
  const std::int64_t process = w.add(ProcessRow{pid, {}, "run", "host", "boot", clock_offset});
  const std::int64_t device = w.add(DeviceRow{0, "GPU-1", "X", "GH100", "{}"});
  for (const KernelSpan& span : recording.kernels) {
    if (span.group < first_group || span.group >= first_group + groups) continue;
    Shape shape;
    shape.name_id = w.string("kernel" + std::to_string(span.group));
    KernelRow row;
    row.process_id = process;
    row.device_id = device;
    row.start_ns = epoch - clock_offset + span.start_ns;
    row.end_ns = epoch - clock_offset + span.end_ns;
    row.shape_id = w.shape(shape);
    w.add(row);
  }
  for (std::size_t i = 0; samples && i < recording.times.size(); ++i) {
    const std::int64_t time = epoch - clock_offset + recording.times[i];
    const auto value = [](double v) { return std::isfinite(v) ? std::optional(v) : std::nullopt; };
    w.add(SampleRow{process, device, time, w.string("dram.bytes_read"),
                    value(recording.counts.values[i]), "B", "pm"});
    w.add(SampleRow{process, device, time, w.string("sm.active"), value(recording.levels.values[i]),
                    "1", "pm"});
    w.add(SampleRow{process, device, time, w.string("of.tomorrow"), 1, "1", "pm"});
  }
  w.finish();
}

struct Row {
  std::optional<double> value, low, high;
  std::string unit, scope;
};

std::map<std::pair<std::string, std::string>, Row> read_rows(const std::filesystem::path& file) {
  std::map<std::pair<std::string, std::string>, Row> out;
  ProfileReader(file).scan(
      "v_counters",
      {"kernel", "metric", "value", "low", "high", "unit", "scope", "source", "kernel_id", "level"},
      [&](const ProfileRow& row) {
        EXPECT_EQ(row.text(7), "pm");
        EXPECT_FALSE(row.optional_integer(8));
        EXPECT_EQ(row.optional_real(3).has_value(), row.optional_real(9) == 0.9);
        const bool fresh =
            out.try_emplace({std::string(row.text(0)), std::string(row.text(1))},
                            Row{row.optional_real(2), row.optional_real(3), row.optional_real(4),
                                std::string(row.text(5)), std::string(row.text(6))})
                .second;
        EXPECT_TRUE(fresh) << row.text(0);
      });
  return out;
}

// Two processes share the device; only one samples; their clocks differ.
TEST(AttributeSamples, KernelsOfAllProcessesOfTheDeviceCount) {
  const ScratchFolder folder;
  const PmRecording recording = simulate(PmWorld{}, 4);
  write_recording(folder / "a", 1, 123456789, recording, true, 0, 6);
  write_recording(folder / "b", 2, -987654321, recording, false, 6, 6);
  merge_profiles({folder / "a", folder / "b"}, folder / "all", Json::object());
  const auto rows = read_rows(folder / "all");
  ASSERT_EQ(rows.size(), 24u);
  int held = 0;
  for (int g = 0; g < 12; ++g) {
    const std::string kernel = "kernel" + std::to_string(g);
    const Row& bytes = rows.at({kernel, "dram.bytes_read"});
    const Row& active = rows.at({kernel, "sm.active"});
    ASSERT_TRUE(bytes.value && active.value);
    held += *bytes.low <= recording.count_truth[std::size_t(g)] &&
            recording.count_truth[std::size_t(g)] <= *bytes.high;
    EXPECT_NEAR(*active.value, recording.level_truth[std::size_t(g)], 0.02) << kernel;
    EXPECT_EQ(bytes.unit, "B");
    EXPECT_EQ(active.scope, "device");
  }
  EXPECT_GE(held, 9);
  const Json described = ProfileReader(folder / "all").meta("pm_attribution");
  EXPECT_NEAR(described[0]["clock_offset_ns"].get<double>(), recording.offset_ns, 60);
  std::int64_t unknown = 0;
  ProfileReader(folder / "all").scan("losses", {"count"}, [&](const ProfileRow& row) {
    unknown += row.integer(0);
  });
  EXPECT_EQ(unknown, std::ssize(recording.times));
}

TEST(AttributeSamples, AMergeOfMergedFilesReplacesWhatTheyHad) {
  const ScratchFolder folder;
  const PmRecording recording = simulate(PmWorld{}, 4);
  write_recording(folder / "a", 1, 0, recording, true, 0, 6);
  write_recording(folder / "b", 2, 0, recording, false, 6, 6);
  merge_profiles({folder / "a"}, folder / "one", Json::object());
  EXPECT_EQ(read_rows(folder / "one").size(), 12u);
  merge_profiles({folder / "one", folder / "b"}, folder / "all", Json::object());
  EXPECT_EQ(read_rows(folder / "all").size(), 24u);
}

TEST(AttributeSamples, WithoutSamplesNothingIsAdded) {
  const ScratchFolder folder;
  write_recording(folder / "a", 1, 0, simulate(PmWorld{}, 4), false, 0, 12);
  merge_profiles({folder / "a"}, folder / "all", Json::object());
  EXPECT_TRUE(read_rows(folder / "all").empty());
  EXPECT_THROW(ProfileReader(folder / "all").meta("pm_attribution"), InputError);
}

}  // namespace
}  // namespace warpmeter
