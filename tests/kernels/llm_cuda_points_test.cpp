// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Points of the CUDA kernels that the host has not; those of the others are in llm_points_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cuda/device.h"
#include "kernels/llm/cuda/table.h"

namespace warpmeter {
namespace {

std::vector<Benchmark> rows_with_models() {
  std::vector<Benchmark> rows;
  for (const auto& family : {cuda_routing_kernels, cuda_training_kernels})
    for (Benchmark& row : family()) rows.push_back(std::move(row));
  return rows;
}

std::set<std::string> ids(const Benchmark& row, Effort effort) {
  std::set<std::string> all;
  for (const Parameters& point : row.points(Device{}, effort)) all.insert(to_string(point));
  return all;
}

TEST(CudaPoints, GrowWithTheEffort) {
  for (const Benchmark& row : rows_with_models()) {
    const auto quick = ids(row, Effort::quick), standard = ids(row, Effort::standard),
               thorough = ids(row, Effort::thorough);
    EXPECT_TRUE(std::includes(standard.begin(), standard.end(), quick.begin(), quick.end()));
    EXPECT_TRUE(std::includes(thorough.begin(), thorough.end(), standard.begin(), standard.end()));
  }
}

// A group is a model.
TEST(CudaPoints, HaveBothSidesOfTheSplitAndNeverSplitAModel) {
  for (const Benchmark& row : rows_with_models())
    for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
      std::map<std::string, std::set<std::string>> sides;
      std::set<std::string> all;
      for (const Parameters& point : row.points(Device{}, effort)) {
        sides[*word(point, "model")].insert(*word(point, "split"));
        all.insert(*word(point, "split"));
        EXPECT_GT(row.work(point).bytes_read, 0) << row.id;
        EXPECT_EQ(row.unsupported(Device{}, point), std::nullopt) << row.id;
      }
      EXPECT_EQ(all, (std::set<std::string>{"fit", "held_out"})) << row.id;
      for (const auto& [model, split] : sides) EXPECT_EQ(split.size(), 1U) << row.id << model;
    }
}

const Benchmark& row_of(const std::vector<Benchmark>& table, const std::string& id) {
  return *std::ranges::find(table, id, &Benchmark::id);
}

// What the kernel refuses, and that the nearest shape which it takes is not refused.
TEST(CudaPoints, AreRefusedWhereTheKernelEnds) {
  const auto table = rows_with_models();
  const auto refused = [&](const char* id, Parameters change) {
    const Benchmark& row = row_of(table, id);
    Parameters point = row.points(Device{}, Effort::quick).front();
    for (auto& [name, value] : change) point[name] = value;
    return row.unsupported(Device{}, point).value_or("");
  };
  EXPECT_EQ(refused("kernel.moe.route", {{"experts", 512.0}, {"top", 16.0}}), "");
  EXPECT_EQ(refused("kernel.moe.route", {{"experts", 513.0}}), "513 experts; at most 512");
  EXPECT_EQ(refused("kernel.moe.route", {{"top", 17.0}}), "top 17 of 128 experts; at most 16");
  EXPECT_EQ(refused("kernel.moe.route", {{"experts", 4.0}}), "top 8 of 4 experts; at most 4");
  EXPECT_EQ(refused("kernel.moe.permute", {{"rows", 300e6}}),
            "2400000000 rows; row numbers are i32");
  EXPECT_EQ(refused("kernel.moe.unpermute", {{"type", std::string("int8")}}),
            "type int8: this kernel takes f32, bf16 or f16");
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
