// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/merge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/profile_reader.h"
#include "profiler/schema.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

// Random shards with truth: every kernel is there once, on the common clock, under the right
// device, name, shape and range; losses add up.
TEST(Merge, KeepsEveryRowOnceOnTheCommonClock) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    const ScratchFolder folder;
    std::multiset<PlantedKernel> truth;
    std::vector<std::filesystem::path> files;
    std::set<std::string> uuids;
    std::int64_t losses = 0;
    for (int i = 0; i < 2 + int(random() % 4); ++i) {
      PlantedShard shard;
      shard.file = folder / fmt::format("{}.sqlite", i);
      shard.pid = 100 + i;
      shard.clock_offset_ns = std::int64_t(random() % 2000000) - 1000000;
      for (unsigned d = 0; d < 1 + random() % 3; ++d)
        shard.uuids.push_back(fmt::format("GPU-{}", (i + d) % 4));
      shard.kernels = random() % 4 == 0 ? 0 : int(random() % 200);
      shard.seed = static_cast<unsigned>(random());
      shard.losses = std::int64_t(random() % 50);
      truth.merge(write_shard(shard));
      files.push_back(shard.file);
      uuids.insert(shard.uuids.begin(), shard.uuids.end());
      losses += shard.losses;
    }
    const auto rows = merge_profiles(files, folder / "all.sqlite", Json::object());
    EXPECT_EQ(read_kernels(folder / "all.sqlite"), truth) << "seed " << seed;
    EXPECT_EQ(rows.at("kernels"), std::ssize(truth));
    EXPECT_EQ(rows.at("ranges"), std::ssize(truth));
    EXPECT_EQ(rows.at("devices"), std::ssize(uuids));
    std::int64_t lost = 0;
    ProfileReader(folder / "all.sqlite").scan("v_losses", {"count"}, [&](const ProfileRow& row) {
      lost += row.integer(0);
    });
    EXPECT_EQ(lost, losses);
  }
}

TEST(Merge, OfMergedFilesIsThatOfTheirShards) {
  const ScratchFolder folder;
  std::multiset<PlantedKernel> truth;
  for (int i = 0; i < 3; ++i) {
    PlantedShard shard{folder / std::to_string(i), 100 + i, 5000 * i, {"GPU-1", "GPU-2"}};
    shard.kernels = 30;
    shard.seed = 7 + i;
    truth.merge(write_shard(shard));
  }
  merge_profiles({folder / "0", folder / "1"}, folder / "01", Json::object());
  merge_profiles({folder / "2", folder / "01"}, folder / "012", Json::object());
  EXPECT_EQ(read_kernels(folder / "012"), truth);
  ProfileReader(folder / "012")
      .scan("processes", {"pid", "clock_offset_ns", "clock_applied_ns"}, [](const ProfileRow& row) {
        EXPECT_EQ(row.integer(1), 0);
        EXPECT_EQ(row.integer(2), 5000 * (row.integer(0) - 100));
      });
  EXPECT_NE(refusal_of([&] {
              merge_profiles({folder / "01", folder / "1"}, folder / "x", Json::object());
            }).find("are in"),
            std::string::npos);
}

// A row of every table survives, moved behind those that were there.
TEST(Merge, CopiesEveryTable) {
  const ScratchFolder folder;
  write_planted_store(folder / "a");
  write_planted_store(folder / "b");
  const auto rows = merge_profiles({folder / "a", folder / "b"}, folder / "ab", Json::object());
  const ProfileReader one(folder / "a");
  const std::set<std::string_view> joined{"meta", "strings", "devices", "shapes"};
  for (const Table& table : profile_tables())
    EXPECT_EQ(rows.at(std::string(table.name)),
              one.count(table.name) * (joined.contains(table.name) ? 1 : 2))
        << table.name;
  const ProfileReader both(folder / "ab");
  std::vector<std::string> domains, kernels;
  both.scan("v_counters", {"kernel", "range"}, [&](const ProfileRow& row) {
    kernels.emplace_back(row.optional_text(0).value_or("-"));
    domains.emplace_back(row.optional_text(1).value_or("-"));
  });
  EXPECT_EQ(kernels, (std::vector<std::string>{"gemm<\"bf16\">", "-", "gemm<\"bf16\">", "-"}));
  EXPECT_EQ(domains, (std::vector<std::string>{"-", "step, \"decode\"", "-", "step, \"decode\""}));
  std::vector<std::int64_t> sampled;
  both.scan("v_pc_samples", {"function", "pc_offset", "samples"}, [&](const ProfileRow& row) {
    EXPECT_EQ(row.text(0), "gemm<\"bf16\">");
    EXPECT_EQ(row.integer(1), 0x1a0);
    sampled.push_back(row.integer(2));
  });
  EXPECT_EQ(sampled, (std::vector<std::int64_t>{42, 42}));
  std::vector<std::int64_t> times;
  both.scan("v_samples", {"time_ns"},
            [&](const ProfileRow& row) { times.push_back(row.integer(0)); });
  EXPECT_EQ(times,
            (std::vector<std::int64_t>{1201000, 1201000, 1202000, 1202000, 1203000, 1203000}));
}

// Counters of a shape follow it to its row in the merged file.
TEST(Merge, MapsTheShapesOfCounters) {
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> names = {{"first", "both"}, {"both", "last"}};
  for (int i = 0; i < 2; ++i) {
    ProfileWriter w(folder / std::to_string(i), ProfileHeader{});
    for (const std::string& name : names[static_cast<std::size_t>(i)]) {
      CounterRow row;
      row.shape_id = w.shape(Shape{w.string(name), {4, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}, {}, {}});
      row.metric_id = w.string("dram.bytes");
      row.value = i + 1;
      row.unit = "B";
      row.source = "range";
      row.scope = "device";
      w.add(row);
    }
    w.finish();
  }
  merge_profiles({folder / "0", folder / "1"}, folder / "all", Json::object());
  std::vector<std::pair<std::string, double>> rows;
  std::set<std::int64_t> shapes;
  ProfileReader(folder / "all")
      .scan("v_counters", {"kernel", "value", "shape_id"}, [&](const ProfileRow& row) {
        rows.emplace_back(row.text(0), row.optional_real(1).value_or(0));
        shapes.insert(row.integer(2));
      });
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, double>>{
                      {"first", 1}, {"both", 1}, {"both", 2}, {"last", 2}}));
  EXPECT_EQ(shapes.size(), 3u);
}

TEST(Merge, SaysWhatItCannotKnow) {
  const ScratchFolder folder;
  PlantedShard known{folder / "a", 1, 100, {"GPU-1"}};
  PlantedShard unknown{folder / "b", 2, std::nullopt, {"GPU-1"}};
  write_shard(known);
  write_shard(unknown);
  merge_profiles({known.file, unknown.file}, folder / "ab", Json::object());
  std::vector<std::string> said;
  ProfileReader(folder / "ab").scan("v_losses", {"what", "reason"}, [&](const ProfileRow& row) {
    said.push_back(fmt::format("{}; {}", row.text(0), row.text(1)));
  });
  EXPECT_EQ(
      said,
      (std::vector<std::string>{"clock offset; b: times are as the process's clock gave them"}));
}

TEST(Merge, RefusesWhatDoesNotBelongTogether) {
  const ScratchFolder folder;
  PlantedShard a{folder / "a", 1, 0, {"GPU-1"}};
  PlantedShard other_boot{folder / "b", 2, 0, {"GPU-1"}, "another boot"};
  PlantedShard emulated{folder / "c", 3, 0, {"GPU-1"}, "boot", Source::emulated};
  for (const auto& shard : {a, other_boot, emulated}) write_shard(shard);
  const auto refusal = [&](std::vector<std::filesystem::path> files) {
    return refusal_of([&] { merge_profiles(files, folder / "out", Json::object()); });
  };
  EXPECT_NE(refusal({}).find("nothing to merge"), std::string::npos);
  EXPECT_NE(refusal({a.file, a.file}).find("name it once"), std::string::npos);
  EXPECT_NE(refusal({a.file, other_boot.file}).find("two boots"), std::string::npos);
  EXPECT_NE(refusal({a.file, emulated.file}).find("do not mix"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.partial"));
}

}  // namespace
}  // namespace warpmeter
