// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/profiler/planted.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>

#include "core/error.h"
#include "profiler/profile_reader.h"

namespace warpmeter {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "profile.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string refusal_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

void write_planted_store(const std::filesystem::path& file) {
  ProfileHeader header;
  header.source = Source::emulated;
  header.tool = Json{{"name", "warpmeter"}, {"version", "0"}};
  header.host = Json{{"hostname", "planted"}};
  header.provenance = Json{{"collectors", {"timeline"}}};
  ProfileWriter w(file, header);
  const auto process = w.add(ProcessRow{4242, 1, "python serve.py", "planted", "boot", 1000, 0});
  const auto device = w.add(DeviceRow{0, "GPU-1", "Planted GPU", "GH100", "{}"});
  const auto name = w.string("gemm<\"bf16\">");
  const auto shape = w.shape(Shape{name, {7, 2, 3}, {128, 1, 1}, {2, 1, 1}, 1024, 4096, 96});
  const auto outer =
      w.add(RangeRow{process, 77, w.string("llm"), w.string("step, \"decode\""), w.string("phase"),
                     "{\"batch\":8}", "push_pop", 1000001, 1900005, std::nullopt});
  w.add(RangeRow{process, 77, std::nullopt, w.string("request"), std::nullopt, std::nullopt,
                 "start_end", 1000100, std::nullopt, std::nullopt});
  const auto kernel = w.add(KernelRow{
      process, device, 1, 7, 1234567, 1239999, (1LL << 32) + 5, 11, 12, shape, outer, {}});
  w.add(KernelRow{process, device, 1, 7, std::nullopt, std::nullopt, 6, {}, {}, shape, {}, {}});
  w.add(CopyRow{process,
                device,
                1,
                8,
                1300000,
                1300512,
                7,
                {},
                {},
                "host_to_device",
                "pinned",
                "device",
                {},
                65536,
                outer});
  w.add(SetRow{process, device, 1, 8, 1400000, 1400256, 8, {}, {}, "device", 4096, 255, {}});
  w.add(SynchronizationRow{process, device, 1, 7, 1500000, 1600000, 9, "stream"});
  w.add(ApiRow{process, 77, 1200000, 1203000, (1LL << 32) + 5, w.string("cudaLaunchKernel"), 0,
               outer});
  w.add(CounterRow{kernel,
                   {},
                   {},
                   device,
                   w.string("dram.bytes.read"),
                   1.5e6,
                   "B",
                   "range",
                   "context",
                   1,
                   1.4e6,
                   1.6e6,
                   0.9,
                   "ok",
                   {}});
  w.add(CounterRow{{},
                   {},
                   outer,
                   device,
                   w.string("tensor.active"),
                   std::nullopt,
                   "1",
                   "pm",
                   "device",
                   1,
                   {},
                   {},
                   {},
                   "unsupported",
                   "the chip has no such counter"});
  for (int i = 0; i < 3; ++i)
    w.add(SampleRow{process, device, 1200000 + 1000 * i, w.string("sm.active"), 0.25 * i, "1",
                    "gpm"});
  w.add(PcSampleRow{process, device, name, -7, 0x1a0, w.string("long_scoreboard"), 40});
  w.add(PcSampleRow{process, device, name, -7, 0x1a0, w.string("long_scoreboard"), 2});
  w.add(LossRow{process, "timeline", "kernels", 17, 1700000, 1800000, "all buffers were full"});
  const std::array<std::byte, 3> image{std::byte{1}, std::byte{0}, std::byte{255}};
  w.add(ImageRow{process, device, "GH100", "counter_data", image});
  w.finish();
}

std::multiset<PlantedKernel> write_shard(const PlantedShard& shard) {
  std::mt19937_64 random(shard.seed);
  ProfileHeader header;
  header.source = shard.source;
  ProfileWriter w(shard.file, header);
  w.string(fmt::format("only in {}", shard.pid));  // ids of strings differ between shards
  const auto process =
      w.add(ProcessRow{shard.pid, {}, "python", {}, shard.boot_id, shard.clock_offset_ns, 0});
  std::vector<std::int64_t> devices;
  for (const std::string& uuid : shard.uuids)
    devices.push_back(w.add(DeviceRow{std::int64_t(devices.size()), uuid, "GPU", "GH100", "{}"}));
  std::multiset<PlantedKernel> truth;
  for (int i = 0; i < shard.kernels; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 1000000);
    const std::string name = fmt::format("kernel_{}", random() % 9);
    const std::string range_name = fmt::format("range_{}", random() % 5);
    const std::size_t d = random() % devices.size();
    const auto grid = static_cast<std::int64_t>(1 + random() % 4);
    RangeRow range;
    range.process_id = process;
    range.name_id = w.string(range_name);
    range.start_ns = start;
    const auto range_id = w.add(range);
    Shape shape;
    shape.name_id = w.string(name);
    shape.grid[0] = grid;
    KernelRow row;
    row.process_id = process;
    row.device_id = devices[d];
    row.start_ns = start;
    row.end_ns = start + 10;
    row.correlation = i;
    row.shape_id = w.shape(shape);
    row.range_id = range_id;
    w.add(row);
    const std::int64_t offset = shard.clock_offset_ns.value_or(0);
    truth.insert({start + offset, start + 10 + offset, name, shard.uuids[d], shard.pid, grid, i,
                  range_name});
  }
  if (shard.losses > 0)
    w.add(LossRow{process, "timeline", "kernels", shard.losses, {}, {}, "all buffers were full"});
  w.finish();
  return truth;
}

std::multiset<PlantedKernel> read_kernels(const std::filesystem::path& file) {
  const ProfileReader reader(file, Integrity::all_pages);
  std::multiset<PlantedKernel> kernels;
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  reader.scan(
      "v_kernels",
      {"start_ns", "end_ns", "name", "device_uuid", "pid", "grid_x", "correlation", "range"},
      [&](const ProfileRow& row) {
        EXPECT_GE(row.integer(0), last) << "not in the order of time";
        last = row.integer(0);
        kernels.insert({row.integer(0), row.integer(1), std::string(row.text(2)),
                        std::string(row.text(3)), row.integer(4), row.integer(5), row.integer(6),
                        std::string(row.text(7))});
      });
  return kernels;
}

}  // namespace warpmeter
