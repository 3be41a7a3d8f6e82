// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Rates of the record path, one thread each: records into buffers and on to rows that the store can
// take, and rows into SQLite. Google Benchmark's flags; figures in docs/profile_store.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "collectors/record_pool.h"
#include "collectors/record_rows.h"
#include "profiler/profile_writer.h"

namespace warpmeter {
namespace {

constexpr std::size_t buffer_records = 1 << 15;  // 2.5 MiB

std::filesystem::path scratch_file() {
  return std::filesystem::temp_directory_path() /
         fmt::format("record_path_benchmark.{}.sqlite", ::getpid());
}

void remove_scratch() {
  for (const char* end : {"", ".partial", ".partial-journal"})
    std::filesystem::remove(scratch_file().string() + end);
}

// 300 kernels with names of about 120 characters, as templates give, in 1200 shapes: the launches
// of a few steps of a large model.
struct Workload {
  Workload() {
    for (int i = 0; i < 300; ++i)
      names.push_back(fmt::format(
          "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI{:a>80}{}E", "b", i));
    for (int i = 0; i < 1200; ++i) {
      KernelRecord record;
      record.grid[0] = static_cast<std::uint32_t>(1 + i);
      record.block[0] = 128;
      record.stream = 7;
      record.context = 1;
      record.registers = 96;
      record.graph = 3;
      record.graph_node = static_cast<std::uint64_t>(i) + 1;
      records.push_back(record);
    }
  }
  std::vector<std::string> names;
  std::vector<KernelRecord> records;
};

// Takes names as text, as a callback gets them, fills buffers, drains and converts them.
void buffer_to_rows(benchmark::State& state) {
  remove_scratch();
  ProfileWriter writer(scratch_file(), {});
  NameTable names;
  ProcessRow process;
  DeviceRow device;
  KernelRows converter(writer, names, writer.add(process), {writer.add(device)});
  RecordPool<KernelRecord> pool(4, buffer_records);
  const Workload workload;
  std::vector<KernelRow> rows;
  std::uint64_t clock = 0;
  std::uint32_t correlation = 0;
  for (auto _ : state) {
    RecordPool<KernelRecord>::Producer producer(pool);
    for (std::size_t i = 0; i < buffer_records; ++i) {
      KernelRecord record = workload.records[clock % workload.records.size()];
      record.name = names.intern(workload.names[clock % workload.names.size()]);
      record.start_ns = ++clock * 1000;
      record.end_ns = record.start_ns + 900;
      record.correlation = ++correlation;
      producer.append(record);
    }
    pool.drain_one([&](std::span<const KernelRecord> records) { converter.convert(records, rows); },
                   std::chrono::milliseconds(0));
    benchmark::DoNotOptimize(rows.data());
  }
  if (pool.take_dropped().count != 0) state.SkipWithError("records were dropped");
  state.counters["records/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * buffer_records, benchmark::Counter::kIsRate);
  writer.discard();
}
BENCHMARK(buffer_to_rows);

// Rows that are ready into the file, committed every 32768.
void rows_to_sqlite(benchmark::State& state) {
  remove_scratch();
  ProfileWriter writer(scratch_file(), {});
  KernelRow row;
  row.process_id = writer.add(ProcessRow{});
  row.device_id = writer.add(DeviceRow{});
  Shape shape;
  shape.name_id = writer.string("kernel");
  row.shape_id = writer.shape(shape);
  row.context = 1;
  row.stream = 7;
  row.graph = 3;
  std::int64_t clock = 1'000'000'000'000;
  for (auto _ : state) {
    for (std::size_t i = 0; i < buffer_records; ++i) {
      row.start_ns = clock += 1000;
      row.end_ns = clock + 900;
      row.correlation = clock;
      row.graph_node = static_cast<std::int64_t>(i);
      writer.add(row);
    }
    writer.flush();
  }
  if (!writer.failure().empty()) state.SkipWithError("the disk is full");
  state.counters["rows/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * buffer_records, benchmark::Counter::kIsRate);
  writer.discard();
}
BENCHMARK(rows_to_sqlite);

}  // namespace
}  // namespace warpmeter

BENCHMARK_MAIN();
