// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The rows of the CUDA kernels: ids, splits, refusals. Needs no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cuda/device.h"
#include "kernels/llm/cuda/table.h"

namespace warpmeter {
namespace {

const Benchmark& row_of(const std::string& id) {
  static const std::vector<Benchmark> table = cuda_llm_kernels();
  return *std::find_if(table.begin(), table.end(), [&](const Benchmark& b) { return b.id == id; });
}

// No device at all is refused by those that need a certain one, or a library on it.
bool needs_its_device(const Benchmark& row) {
  const std::set<std::string> ids = {"kernel.all_reduce.nccl",    "kernel.all_reduce.one_shot",
                                     "kernel.attention.cudnn",    "kernel.attention.sm90",
                                     "kernel.gemm.cublaslt",      "kernel.gemm.cublaslt.fp8",
                                     "kernel.gemm.cublaslt.int8", "kernel.gemm.fp8",
                                     "kernel.gemm.sm90"};
  return ids.contains(row.id);
}

TEST(CudaKernelTable, HasDistinctRowsThatTakeTheirPoints) {
  std::set<std::string> ids;
  for (const Benchmark& row : cuda_llm_kernels()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    std::set<std::string> points;
    for (const Parameters& point : row.points(Device{}, Effort::thorough)) {
      EXPECT_TRUE(points.insert(to_string(point)).second) << to_string(point);
      if (!needs_its_device(row)) {
        EXPECT_EQ(row.unsupported(Device{}, point), std::nullopt) << to_string(point);
      }
      EXPECT_GT(row.work(point).bytes_read, 0);
      EXPECT_GT(row.work(point).bytes_written, 0);
    }
  }
}

// Collectives have a quantity, and no split, of their own.
std::vector<Benchmark> single_device_rows() {
  std::vector<Benchmark> rows = cuda_llm_kernels();
  std::erase_if(rows, [](const Benchmark& row) { return row.quantity != "kernel.time"; });
  return rows;
}

TEST(CudaKernelTable, HasBothSidesOfTheSplitInEveryRow) {
  for (const Benchmark& row : single_device_rows())
    for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
      std::set<std::string> sides;
      for (const Parameters& point : row.points(Device{}, effort))
        sides.insert(*word(point, "split"));
      EXPECT_EQ(sides, (std::set<std::string>{"fit", "held_out"})) << row.id;
    }
}

// Of kernels on rows neither a model nor a width is on both sides of a family.
TEST(CudaKernelTable, NeverSplitsAGroupOfKernelsOnRows) {
  std::map<std::string, std::set<std::string>> sides;
  for (const Benchmark& row : single_device_rows())
    for (const Parameters& point : row.points(Device{}, Effort::thorough)) {
      const std::string family = *word(point, "family"), split = *word(point, "split");
      if (family.starts_with("gemm") || family.starts_with("attention")) continue;
      sides[family + " " + *word(point, "model")].insert(split);
      if (const auto columns = number(point, "columns"))
        sides[family + " " + std::to_string(*columns)].insert(split);
    }
  for (const auto& [group, split] : sides) EXPECT_EQ(split.size(), 1U) << group;
  EXPECT_GE(sides.size(), 20U);
}

// A tile of the result that is begun counts whole.
TEST(CudaKernelTable, CountsTiles) {
  const Parameters gemm = {{"m", 257.0}, {"n", 384.0}, {"k", 64.0}, {"type", "bf16"}};
  for (const char* id : {"kernel.gemm.prefill", "kernel.gemm.sm90"})
    EXPECT_EQ(row_of(id).work(gemm).tiles, 3 * 3) << id;
  const Parameters attention = {{"batch", 2.0},       {"heads", 8.0},     {"kv_heads", 2.0},
                                {"head_size", 128.0}, {"context", 129.0}, {"type", "bf16"}};
  EXPECT_EQ(row_of("kernel.attention.prefill").work(attention).tiles, 2 * 8 * 3);
  const Work work = row_of("kernel.attention.sm90").work(attention);
  EXPECT_EQ(work.tiles, 2 * 8 * 2);
  EXPECT_EQ(work_from_json(to_json(work), "a point"), work);
  EXPECT_EQ(row_of("kernel.softmax").work({{"rows", 4.0}, {"columns", 8.0}, {"type", "f32"}}).tiles,
            0);
}

// The first point of a row, changed, is refused for a reason that names what was changed.
void expect_refused(const std::string& id, const Parameters& changes, const std::string& reason) {
  const Benchmark& row = row_of(id);
  Parameters point = row.points(Device{}, Effort::quick)[0];
  for (const auto& [name, value] : changes) point[name] = value;
  const auto refusal = row.unsupported(Device{}, point);
  ASSERT_TRUE(refusal) << id;
  EXPECT_NE(refusal->find(reason), std::string::npos) << *refusal;
}

TEST(CudaKernelTable, RefusesWithAReason) {
  expect_refused("kernel.rms_norm.residual", {{"columns", 16385.0}}, "at most 16384");
  expect_refused("kernel.layer_norm", {{"columns", 16385.0}}, "at most 16384");
  expect_refused("kernel.layer_norm", {{"type", "e4m3"}}, "f32, bf16 or f16");
  expect_refused("kernel.rope.packed", {{"stride", 5119.0}}, "at least 5120");
  expect_refused("kernel.geglu.packed", {{"type", "int8"}}, "f32, bf16 or f16");
  expect_refused("kernel.kv_append", {{"type", "f32"}}, "bf16 or f16");
  expect_refused("kernel.kv_append", {{"cache", "int8"}}, "or e4m3");
  expect_refused("kernel.kv_append", {{"stride", 6143.0}}, "6144");
  expect_refused("kernel.quantize.token", {{"columns", 16400.0}}, "at most 16384");
  expect_refused("kernel.quantize.block", {{"type", "f32"}}, "bf16 or f16");
  expect_refused("kernel.sample", {{"temperature", 0.0}}, "top_k 1");
  expect_refused("kernel.sample", {{"top_p", 0.0}}, "top_k 1");
  expect_refused("kernel.sample", {{"vocabulary", 8388609.0}}, "at most 8388608");
}

TEST(CudaPoints, OfAnAllReduceOnOneDeviceSayWhyThereIsNoValue) {
  std::string why;
  const auto devices = find_cuda_devices(why);
  ASSERT_EQ(devices.size(), 1U) << why;
  const Benchmark row = cuda_collective_kernels().at(0);
  const auto points = row.points(devices[0], Effort::quick);
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(row.unsupported(devices[0], points[0]),
            "an all-reduce needs two ranks, and this system has only one GPU");
}

}  // namespace
}  // namespace warpmeter
