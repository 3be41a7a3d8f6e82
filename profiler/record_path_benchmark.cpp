// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Rates of the record path, one thread each: CUPTI's buffers to rows that the store can take, and
// rows into SQLite. Google Benchmark's flags; figures in docs/profile_store.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "collectors/activity_rows.h"
#include "profiler/profile_writer.h"

namespace warpmeter {
namespace {

constexpr std::size_t buffer_records = 1 << 14;  // some 4 MiB of CUPTI's records

std::filesystem::path scratch_file() {
  return std::filesystem::temp_directory_path() /
         fmt::format("record_path_benchmark.{}.sqlite", ::getpid());
}

void remove_scratch() {
  for (const char* end : {"", ".partial", ".partial-journal"})
    std::filesystem::remove(scratch_file().string() + end);
}

// 300 kernels with names of about 120 characters, as templates give, in 1200 shapes: the launches
// of a few steps of a large model, as CUPTI puts them into a buffer.
struct Workload {
  Workload() {
    for (int i = 0; i < 300; ++i)
      names.push_back(fmt::format(
          "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI{:a>80}{}E", "b", i));
    for (std::size_t i = 0; i < buffer_records; ++i) {
      CUpti_ActivityKernel10 record{};
      record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      record.name = names[i % names.size()].c_str();
      record.gridX = static_cast<int>(1 + i % 1200);
      record.blockX = 128;
      record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
      record.streamId = 7;
      record.contextId = 1;
      record.registersPerThread = 96;
      record.graphId = 3;
      record.graphNodeId = i % 1200 + 1;
      record.correlationId = static_cast<std::uint32_t>(i);
      record.start = 1000 * (i + 1);
      record.end = record.start + 900;
      records.push_back(record);
    }
  }
  std::size_t bytes() const { return records.size() * sizeof records[0]; }

  std::vector<std::string> names;
  std::vector<CUpti_ActivityKernel10> records;
};

// As CUPTI's, for a buffer of kernels only.
CUptiResult next_kernel(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* at = *record == nullptr ? buffer
                                        : reinterpret_cast<std::uint8_t*>(*record) +
                                              sizeof(CUpti_ActivityKernel10);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

// Takes rows of kernels and does nothing with them.
struct NoStore : RowSink {
  std::int64_t string(std::string_view) override { return ++last; }
  std::int64_t shape(const Shape&) override { return ++last; }
  std::int64_t add(const ProcessRow&) override { return ++last; }
  std::int64_t add(const DeviceRow&) override { return ++last; }
  std::int64_t add(const KernelRow& row) override {
    benchmark::DoNotOptimize(row);
    return ++last;
  }
  std::int64_t add(const CopyRow&) override { return ++last; }
  std::int64_t add(const SetRow&) override { return ++last; }
  std::int64_t add(const SynchronizationRow&) override { return ++last; }
  std::int64_t add(const ApiRow&) override { return ++last; }
  std::int64_t add(const GraphNodeRow&) override { return ++last; }
  std::int64_t add(const RangeRow&) override { return ++last; }
  void end_range(std::int64_t, std::int64_t) override {}
  std::int64_t add(const CounterRow&) override { return ++last; }
  std::int64_t add(const SampleRow&) override { return ++last; }
  std::int64_t add(const PcSampleRow&) override { return ++last; }
  std::int64_t add(const LossRow&) override { return ++last; }
  std::int64_t add(const ImageRow&) override { return ++last; }
  std::int64_t last = 0;
};

// CUPTI's buffer to rows that are ready for the store.
void buffer_to_rows(benchmark::State& state) {
  CuptiApi cupti;
  cupti.cuptiActivityGetNextRecord = next_kernel;
  Target target;
  target.cupti = &cupti;
  target.devices.emplace_back().row_id = 1;
  NoStore store;
  ActivityRows rows(target, store);
  Workload workload;
  for (auto _ : state)
    rows.add(reinterpret_cast<std::uint8_t*>(workload.records.data()), workload.bytes());
  if (rows.kernels() != static_cast<std::uint64_t>(state.iterations()) * buffer_records)
    state.SkipWithError("records were lost");
  state.counters["records/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * buffer_records, benchmark::Counter::kIsRate);
}
BENCHMARK(buffer_to_rows);

// Rows that are ready into the file, committed every 16384.
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
