// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/point_shapes.h"
#include "kernels/llm/step_table.h"
#include "kernels/llm/table.h"

namespace warpmeter {
namespace {

ModelConfig small() {
  return model_from_json(Json{{"hidden_size", 64},
                              {"intermediate_size", 96},
                              {"num_attention_heads", 4},
                              {"num_hidden_layers", 2},
                              {"num_key_value_heads", 2},
                              {"vocab_size", 128}},
                         "small");
}

std::vector<StepLine> lines_of(const std::vector<Benchmark>& table, const char* name,
                               StepOptions options, const Device& device = {}) {
  ModelConfig model = name == std::string("small") ? small() : load_model(name);
  model.name = name;
  return step_lines(table, device, model, options);
}

const StepLine& find(const std::vector<StepLine>& lines, const std::string& layer) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const StepLine& line) { return line.kernel.layer == layer; });
  if (found == lines.end()) throw std::out_of_range("no layer " + layer);
  return *found;
}

TEST(StepTable, NamesTheStepInItsPoints) {
  const auto table = host_llm_kernels();
  const auto lines = lines_of(table, "llama-3-70b", {Phase::decode, 4, 512, 8, 1, Element::bf16});
  const Parameters& point = find(lines, "ffn_down").point;
  EXPECT_EQ(word(point, "kernel"), "gemm.decode");
  EXPECT_EQ(word(point, "family"), "gemm.decode");
  EXPECT_EQ(word(point, "model"), "llama-3-70b");
  EXPECT_EQ(word(point, "layer"), "ffn_down");
  EXPECT_EQ(word(point, "phase"), "decode");
  EXPECT_EQ(word(point, "residency"), "cold");
  EXPECT_EQ(number(point, "count"), 80);
  EXPECT_EQ(number(point, "tp"), 8);
  EXPECT_EQ(number(point, "k"), 28672 / 8);
  EXPECT_FALSE(point.contains("ep"));
  EXPECT_GE(number(point, "threads").value_or(0), 1);
  EXPECT_EQ(word(find(lines, "ffn_swiglu").point, "family"), "swiglu");
}

// By the table of kernels.md: Llama's attention_output and ffn_gate_up fit, its qkv is held out,
// and so is everything of a group that no point has.
TEST(StepTable, KeepsGroupsOnTheirSideOfTheSplit) {
  const auto table = host_llm_kernels();
  const StepOptions decode{Phase::decode, 3, 2048, 1, 1, Element::f32};
  const auto split = [&](const char* model, const char* layer, StepOptions options) {
    return word(find(lines_of(table, model, options), layer).point, "split").value();
  };
  EXPECT_EQ(split("llama-3-8b", "attention_output", decode), "fit");
  EXPECT_EQ(split("llama-3-8b", "ffn_gate_up", decode), "fit");
  EXPECT_EQ(split("llama-3-8b", "qkv", decode), "held_out");
  EXPECT_EQ(split("llama-3-8b", "ffn_down", decode), "held_out");
  EXPECT_EQ(split("llama-3-8b", "attention", decode), "fit");
  EXPECT_EQ(split("llama-3-8b", "attention", {Phase::decode, 3, 2049, 1, 1, Element::f32}),
            "held_out");
  EXPECT_EQ(split("llama-3-8b", "ffn_swiglu", decode), "fit");
  EXPECT_EQ(split("llama-3-70b", "qkv", decode), "held_out");
  EXPECT_EQ(split("qwen3-moe", "attention", decode), "held_out");
  EXPECT_EQ(split("qwen3-moe", "router", decode), "fit");
}

TEST(StepTable, SaysWhyALineCannotRun) {
  const auto table = host_llm_kernels();
  const auto lines = lines_of(table, "small", {Phase::decode, 1, 32, 1, 1, Element::f16});
  EXPECT_EQ(find(lines, "sample").row, nullptr);
  EXPECT_NE(find(lines, "sample").reason.find("no kernel here yet for cpu"), std::string::npos);
  EXPECT_NE(find(lines, "qkv").reason.find("f32 or bf16"), std::string::npos);
  const auto possible = lines_of(table, "small", {Phase::decode, 1, 32, 1, 1, Element::f32});
  EXPECT_EQ(find(possible, "qkv").reason, "");
}

TEST(StepTable, CountsTheWorkOfOneExecution) {
  const auto table = host_llm_kernels();
  auto lines = lines_of(table, "small", {Phase::decode, 2, 32, 1, 1, Element::f32});
  EXPECT_EQ(find(lines, "ffn_down").work, gemm_work({2, 64, 96, Element::f32}));
  EXPECT_FALSE(find(lines, "rope").work);
  Benchmark rope;
  rope.id = "kernel.rope";
  rope.work = [](const Parameters& p) { return Work{{}, double(count(p, "heads")), 0, 0, 1}; };
  add_work(lines, std::vector{rope});
  EXPECT_EQ(find(lines, "rope").work->bytes_read, 6);  // 4 heads of queries, 2 of keys
}

// A row whose points have other names is said, not thrown.
TEST(StepTable, SurvivesARowOfOtherParameters) {
  std::vector<Benchmark> table(1);
  table[0].id = "kernel.sample";
  table[0].work = [](const Parameters& p) { return Work{{}, double(count(p, "beams")), 0, 0, 1}; };
  const auto lines = lines_of(table, "small", {Phase::decode, 1, 32, 1, 1, Element::f32});
  EXPECT_NE(find(lines, "sample").reason.find("beams must be a count"), std::string::npos);
}

TEST(StepTable, HasThePointsOfTheStepInPlaceOfItsOwn) {
  const auto table = host_llm_kernels();
  const auto lines = lines_of(table, "small", {Phase::decode, 1, 32, 1, 1, Element::f32});
  const auto rows = step_table(lines);
  std::size_t points = 0;
  for (const Benchmark& row : rows) points += row.points({}, Effort::quick).size();
  const auto with_row = std::count_if(lines.begin(), lines.end(),
                                      [](const StepLine& line) { return line.row != nullptr; });
  EXPECT_EQ(points, static_cast<std::size_t>(with_row));
  EXPECT_GE(points, 8u);
}

TEST(StepTable, RefusesToEmulateWhatWouldTakeHours) {
  auto table = host_llm_kernels();
  for (Benchmark& row : table) row.device = DeviceKind::cuda;
  Device emulated{DeviceKind::cuda, 0, {}};
  emulated.facts["emulated"] = {true, Unit::one, "test"};
  ASSERT_TRUE(is_emulated(emulated));
  const StepOptions options{Phase::prefill, 1, 512, 1, 1, Element::f32};
  EXPECT_NE(find(lines_of(table, "llama-3-8b", options, emulated), "qkv").reason.find("emulated"),
            std::string::npos);
  EXPECT_EQ(find(lines_of(table, "small", options, emulated), "qkv").reason, "");
}

}  // namespace
}  // namespace warpmeter
