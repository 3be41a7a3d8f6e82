// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <map>
#include <set>

#include "kernels/llm/table.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

struct Row {
  std::string id, family;
  Parameters point;
};

std::vector<Row> rows(Effort effort) {
  std::vector<Row> all;
  for (const Benchmark& benchmark : host_llm_kernels())
    for (const Parameters& point : benchmark.points(Device{}, effort))
      all.push_back({benchmark.id, word(point, "family").value_or(""), point});
  return all;
}

std::set<std::string> ids(Effort effort) {
  std::set<std::string> all;
  for (const Row& row : rows(effort)) all.insert(to_string(row.point));
  return all;
}

TEST(LlmPoints, HaveBothSidesOfTheSplitInEveryFamily) {
  const std::set<std::string> families = {
      "gemm.prefill", "gemm.decode", "attention.decode", "softmax", "norm", "swiglu", "gather"};
  for (const Effort effort : {Effort::quick, Effort::standard, Effort::thorough}) {
    std::map<std::string, std::set<std::string>> sides;
    for (const Row& row : rows(effort)) sides[row.family].insert(*word(row.point, "split"));
    std::set<std::string> seen;
    for (const auto& [family, split] : sides) {
      seen.insert(family);
      EXPECT_EQ(split, (std::set<std::string>{"fit", "held_out"})) << family;
    }
    EXPECT_EQ(seen, families);
  }
}

TEST(LlmPoints, StandardHasEnoughOnBothSides) {
  std::map<std::string, int> count;
  for (const Row& row : rows(Effort::standard)) ++count[*word(row.point, "split")];
  EXPECT_GE(count["fit"], 25);
  EXPECT_GE(count["held_out"], 25);
}

// The whole group of a shape is on one side: (n, k) of a GEMM in both its families and all types,
// (model, context) of attention, (family, columns) of the others.
TEST(LlmPoints, NeverSplitAGroup) {
  std::map<std::string, std::set<std::string>> sides;
  for (const Row& row : rows(Effort::thorough)) {
    std::string group;
    if (row.family.starts_with("gemm"))
      group = "gemm " + std::to_string(*number(row.point, "n")) + " " +
              std::to_string(*number(row.point, "k"));
    else if (row.family == "attention.decode")
      group = *word(row.point, "model") + std::to_string(*number(row.point, "context"));
    else
      group = row.family + std::to_string(*number(row.point, "columns"));
    sides[group].insert(*word(row.point, "split"));
  }
  for (const auto& [group, split] : sides) EXPECT_EQ(split.size(), 1U) << group;
  EXPECT_GE(sides.size(), 15U);
}

TEST(LlmPoints, GrowWithTheEffortAndAreDistinct) {
  const auto quick = ids(Effort::quick), standard = ids(Effort::standard),
             thorough = ids(Effort::thorough);
  EXPECT_EQ(thorough.size(), rows(Effort::thorough).size());
  EXPECT_LT(quick.size(), 20U);
  EXPECT_TRUE(std::includes(standard.begin(), standard.end(), quick.begin(), quick.end()));
  EXPECT_TRUE(std::includes(thorough.begin(), thorough.end(), standard.begin(), standard.end()));
}

TEST(LlmPoints, HaveDecodeGemmGatherAndNormInBothResidencies) {
  std::map<std::string, std::set<std::string>> residencies;
  for (const Row& row : rows(Effort::standard))
    residencies[row.family].insert(*word(row.point, "residency"));
  for (const char* family : {"gemm.decode", "gather", "norm"})
    EXPECT_EQ(residencies[family].size(), 2U) << family;
}

// Literals from the models' published configurations.
TEST(LlmPoints, HaveTheShapesOfTheModels) {
  std::set<std::string> gemms;
  for (const Row& row : rows(Effort::thorough)) {
    if (row.family.starts_with("gemm"))
      gemms.insert(*word(row.point, "model") + " " + *word(row.point, "layer") + " " +
                   std::to_string(static_cast<int>(*number(row.point, "n"))) + " " +
                   std::to_string(static_cast<int>(*number(row.point, "k"))));
    if (row.family == "attention.decode") {
      const bool llama = *word(row.point, "model") == "Llama-3-8B";
      EXPECT_EQ(number(row.point, "heads"), 32);
      EXPECT_EQ(number(row.point, "kv_heads"), llama ? 8 : 4);
      EXPECT_EQ(number(row.point, "head_size"), 128);
    }
  }
  EXPECT_EQ(gemms,
            (std::set<std::string>{
                "Llama-3-8B attention_output 4096 4096", "Llama-3-8B ffn_down 4096 14336",
                "Llama-3-8B ffn_gate_up 28672 4096", "Llama-3-8B qkv 6144 4096",
                "Qwen3-30B-A3B attention_output 2048 4096", "Qwen3-30B-A3B expert_down 2048 768",
                "Qwen3-30B-A3B expert_gate_up 1536 2048", "Qwen3-30B-A3B router 128 2048"}));
}

TEST(LlmPoints, AllHaveWork) {
  for (const Benchmark& benchmark : host_llm_kernels())
    for (const Parameters& point : benchmark.points(Device{}, Effort::thorough)) {
      const Work work = benchmark.work(point);
      EXPECT_GT(work.bytes_read, 0);
      EXPECT_GT(work.bytes_written, 0);
      EXPECT_GE(work.launches, 1);
      EXPECT_EQ(work.ops.empty(), benchmark.id == "kernel.gather");
      EXPECT_EQ(benchmark.quantity, "kernel.time");
      EXPECT_EQ(benchmark.id, "kernel." + *word(point, "kernel"));
    }
}

}  // namespace
}  // namespace warpmeter
