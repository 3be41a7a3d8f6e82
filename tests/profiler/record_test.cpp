// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "collectors/record_pool.h"
#include "collectors/record_rows.h"
#include "profiler/profile_reader.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

using Pool = RecordPool<KernelRecord>;
constexpr std::chrono::milliseconds at_once(0);

KernelRecord record_at(std::uint64_t start_ns) {
  KernelRecord record;
  record.start_ns = start_ns;
  record.end_ns = start_ns + 1;
  return record;
}

TEST(CorrelationUnwrapper, CountsOnAcrossManyWraps) {
  CorrelationUnwrapper unwrapper;
  std::uint64_t truth = 1;
  for (int i = 0; i < 100; ++i, truth += 1234567890)
    ASSERT_EQ(unwrapper.unwrap(static_cast<std::uint32_t>(truth)), truth);
  EXPECT_GT(truth >> 32, 20u);
}

// Records of many threads arrive out of order; those around a wrap belong to both sides of it.
TEST(CorrelationUnwrapper, ToleratesDisorderAroundAWrap) {
  std::mt19937_64 random(3);
  CorrelationUnwrapper unwrapper;
  std::uint64_t base = 0;
  for (int i = 0; i < 200000; ++i) {
    base += random() % 200000;
    const std::uint64_t late = std::min(base, random() % 1000000000);
    ASSERT_EQ(unwrapper.unwrap(static_cast<std::uint32_t>(base - late)), base - late) << i;
  }
  EXPECT_GT(base >> 32, 3u);
}

TEST(RecordPool, DropsAndCountsWhenAllBuffersAreFull) {
  Pool pool(2, 10);
  Pool::Producer producer(pool);
  int taken = 0;
  for (std::uint64_t i = 1; i <= 50; ++i) taken += producer.append(record_at(100 * i)) ? 1 : 0;
  EXPECT_EQ(taken, 20);
  DroppedRecords dropped = pool.take_dropped();
  EXPECT_EQ(dropped.count, 30u);
  EXPECT_EQ(dropped.from_ns, 2100u);
  EXPECT_EQ(dropped.to_ns, 5000u);
  EXPECT_EQ(pool.take_dropped().count, 0u);
  std::vector<std::uint64_t> starts;
  const auto collect = [&](std::span<const KernelRecord> records) {
    for (const KernelRecord& record : records) starts.push_back(record.start_ns);
  };
  EXPECT_TRUE(pool.drain_one(collect, at_once));
  EXPECT_TRUE(producer.append(record_at(6000)));  // there is room again
  producer.flush();
  while (pool.drain_one(collect, at_once)) continue;
  ASSERT_EQ(starts.size(), 21u);
  EXPECT_EQ(starts.front(), 100u);
  EXPECT_EQ(starts.back(), 6000u);
}

TEST(RecordPool, ABufferIsFreeAgainIfItsUserThrows) {
  Pool pool(1, 1);
  Pool::Producer producer(pool);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(producer.append(record_at(1)));
    EXPECT_THROW(pool.drain_one([](auto) { throw 1; }, at_once), int);
  }
}

TEST(RecordPool, AfterClosingOnlyWhatWasTakenIsDrained) {
  Pool pool(4, 10);
  Pool::Producer producer(pool);
  producer.append(record_at(1));
  pool.close();
  EXPECT_TRUE(producer.append(record_at(2)));  // into the buffer that it holds
  producer.flush();
  EXPECT_FALSE(producer.append(record_at(3)));
  EXPECT_EQ(pool.take_dropped().count, 1u);
  EXPECT_FALSE(pool.finished());
  std::size_t drained = 0;
  EXPECT_TRUE(pool.drain_one([&](auto records) { drained = records.size(); }, at_once));
  EXPECT_EQ(drained, 2u);
  EXPECT_TRUE(pool.finished());
  EXPECT_FALSE(pool.drain_one([](auto) {}, std::chrono::seconds(100)));  // does not wait
}

// Four producers against a slow writer: each record is drained once, in its producer's order, or
// dropped and counted.
TEST(RecordPool, LosesNothingThatIsNotCounted) {
  constexpr int producers = 4;
  constexpr std::uint64_t each = 20000;
  Pool pool(6, 64);
  std::vector<std::vector<std::uint64_t>> seen(producers);
  std::thread writer([&] {
    while (!pool.finished()) {
      pool.drain_one(
          [&](std::span<const KernelRecord> records) {
            for (const KernelRecord& record : records)
              seen[record.stream].push_back(record.start_ns);
            std::this_thread::sleep_for(std::chrono::microseconds(100));
          },
          std::chrono::milliseconds(10));
    }
  });
  std::atomic<std::uint64_t> refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < producers; ++t)
    threads.emplace_back([&, t] {
      Pool::Producer producer(pool);
      for (std::uint64_t i = 1; i <= each; ++i) {
        KernelRecord record = record_at(i);
        record.stream = static_cast<std::uint32_t>(t);
        if (!producer.append(record)) ++refused;
      }
    });
  for (std::thread& thread : threads) thread.join();
  pool.close();
  writer.join();
  std::size_t total = 0;
  for (const auto& starts : seen) {
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    EXPECT_EQ(std::ranges::adjacent_find(starts), starts.end());
    total += starts.size();
  }
  EXPECT_EQ(pool.take_dropped().count, refused.load());
  EXPECT_EQ(total + refused.load(), producers * each);
  EXPECT_GT(refused.load(), 0u);  // the writer was too slow, so that both ways were taken
}

TEST(NameTable, IsBounded) {
  NameTable names(2, 100);
  const std::uint32_t a = names.intern("a");
  EXPECT_EQ(names.intern("b"), a + 1);
  EXPECT_EQ(names.intern("a"), a);
  EXPECT_EQ(names.intern("c"), NameTable::overflow);
  EXPECT_EQ(names.text(a), "a");
  NameTable small(100, 10);
  EXPECT_EQ(small.intern(std::string(11, 'x')), NameTable::overflow);
  EXPECT_EQ(small.overflowed(), 1u);
}

struct Converted {
  std::vector<std::string> kernels, losses;
};

Converted store(const std::vector<KernelRecord>& records, const NameTable& names,
                const DroppedRecords& dropped) {
  const ScratchFolder folder;
  ProfileWriter writer(folder / "x", {});
  const std::int64_t process = writer.add(ProcessRow{});
  KernelRows converter(writer, names, process, {writer.add(DeviceRow{})});
  std::vector<KernelRow> rows;
  converter.convert(records, rows);
  for (const KernelRow& row : rows) writer.add(row);
  converter.report(dropped);
  converter.report({});
  writer.finish();
  Converted converted;
  const ProfileReader reader(folder / "x");
  reader.scan("v_kernels",
              {"start_ns", "end_ns", "name", "grid_x", "block_y", "cluster_z", "shared_static",
               "shared_dynamic", "registers", "correlation", "graph", "graph_node", "stream"},
              [&](const ProfileRow& row) {
                std::string text(row.text(2));
                for (const int i : {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
                  text += fmt::format(" {}", row.optional_integer(i).value_or(-1));
                converted.kernels.push_back(text);
              });
  reader.scan("v_losses", {"what", "count", "from_ns", "reason"}, [&](const ProfileRow& row) {
    converted.losses.push_back(fmt::format("{} {} {}: {}", row.text(0), row.integer(1),
                                           row.optional_integer(2).value_or(-1), row.text(3)));
  });
  return converted;
}

TEST(KernelRows, CarryEveryMemberOfTheRecord) {
  NameTable names;
  KernelRecord record = record_at(1000);
  record.name = names.intern("gemm");
  record.grid[0] = 2;
  record.block[1] = 3;
  record.cluster[2] = 4;
  record.shared_static = 5;
  record.shared_dynamic = 6;
  record.registers = 7;
  record.correlation = 4294967295;
  record.graph = 9;
  record.graph_node = 10;
  record.stream = 11;
  KernelRecord next = record_at(2000);
  next.name = names.intern("norm");
  next.cluster[2] = 0;
  next.correlation = 1;  // after the wrap
  EXPECT_EQ(store({record, next}, names, {}).kernels,
            (std::vector<std::string>{"gemm 1000 1001 2 3 4 5 6 7 4294967295 9 10 11",
                                      "norm 2000 2001 1 1 1 0 0 0 4294967297 -1 -1 0"}));
}

TEST(KernelRows, CountWhatIsUnusable) {
  NameTable names;
  KernelRecord no_time = record_at(0);
  no_time.end_ns = 0;
  KernelRecord backwards = record_at(500);
  backwards.end_ns = 400;
  KernelRecord huge = record_at(500);
  huge.end_ns = ~std::uint64_t{0};
  KernelRecord no_device = record_at(1);
  no_device.device = 3;
  const Converted converted =
      store({no_time, backwards, huge, no_device, record_at(9)}, names, {17, 100, 200});
  EXPECT_EQ(converted.kernels.size(), 4u);
  EXPECT_EQ(
      converted.losses,
      (std::vector<std::string>{
          "kernels 17 100: all buffers were full", "kernels 1 -1: of a device that is not known",
          "times of kernels 3 -1: the source gave no usable start and end; the rows are "
          "there"}));
}

// More shapes than the converter's cache has slots: each record keeps its own.
TEST(KernelRows, KeepShapesApartWhenTheyShareASlot) {
  NameTable names;
  std::vector<KernelRecord> records;
  for (std::uint32_t i = 1; i <= 40000; ++i) {
    records.push_back(record_at(i));
    records.back().grid[0] = 1 + i % 20000;
  }
  const Converted converted = store(records, names, {});
  ASSERT_EQ(converted.kernels.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    ASSERT_EQ(converted.kernels[i], fmt::format("(too many names) {} {} {} 1 1 0 0 0 0 -1 -1 0",
                                                i + 1, i + 2, records[i].grid[0]));
}

}  // namespace
}  // namespace warpmeter
