// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/point_shapes.h"
#include "kernels/llm/step.h"

namespace warpmeter {
namespace {

constexpr Element types[] = {Element::bf16, Element::e4m3};

double size(const StepKernel& kernel, const char* name) {
  return number(kernel.shape, name).value();
}

bool is_gemm(const StepKernel& kernel) { return kernel.id.rfind("kernel.gemm.", 0) == 0; }

// 2 m n k of all GEMMs, but the output projection.
double gemm_operations(const std::vector<StepKernel>& kernels) {
  double sum = 0;
  for (const StepKernel& kernel : kernels)
    if (is_gemm(kernel) && kernel.layer.rfind("lm_head", 0) != 0)
      sum += 2 * size(kernel, kernel.id == "kernel.gemm.grouped" ? "rows" : "m") *
             size(kernel, "n") * size(kernel, "k") * double(kernel.count);
  return sum;
}

double active_weights(const ModelConfig& model) {
  double sum = 0;
  for (const LayerKind& kind : model.layers) sum += layer_weights(model, kind, true);
  return sum;
}

const StepKernel& find(const std::vector<StepKernel>& kernels, const std::string& layer) {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const StepKernel& kernel) { return kernel.layer == layer; });
  if (found == kernels.end()) throw std::out_of_range("no layer " + layer);
  return *found;
}

double sum_of(const std::vector<StepKernel>& kernels, const std::string& id) {
  double sum = 0;
  for (const StepKernel& kernel : kernels)
    if (kernel.id == id) sum += double(kernel.count);
  return sum;
}

std::string refusal(const ModelConfig& model, const StepOptions& options) {
  try {
    step_kernels(model, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Each token passes each weight that it uses once: 2 operations.
TEST(StepKernels, HaveTwoOperationsPerTokenAndWeight) {
  for (const std::string& name : builtin_models()) {
    const ModelConfig model = load_model(name);
    for (const Element type : types) {
      const StepOptions prefill{Phase::prefill, 2, 512, 1, 1, type};
      EXPECT_EQ(gemm_operations(step_kernels(model, prefill)), 2 * 1024 * active_weights(model))
          << name;
      const StepOptions decode{Phase::decode, 128, 4096, 1, 1, type};
      EXPECT_EQ(gemm_operations(step_kernels(model, decode)), 2 * 128 * active_weights(model))
          << name;
    }
  }
}

// Forward, gradient of activations, gradient of weights: the same products thrice.
TEST(StepKernels, TrainWithThriceTheOperations) {
  for (const std::string& name : builtin_models()) {
    const ModelConfig model = load_model(name);
    EXPECT_EQ(gemm_operations(step_kernels(model, {Phase::train, 1, 1024, 1, 1, Element::bf16})),
              6 * 1024 * active_weights(model))
        << name;
  }
}

TEST(StepKernels, ProjectTheLastTokenOfInferenceAndAllOfTraining) {
  const ModelConfig model = load_model("llama-3-8b");
  const auto rows = [&](Phase phase) {
    return size(find(step_kernels(model, {phase, 4, 256, 1, 1, Element::bf16}), "lm_head"), "m");
  };
  EXPECT_EQ(rows(Phase::prefill), 4);
  EXPECT_EQ(rows(Phase::decode), 4);
  EXPECT_EQ(rows(Phase::train), 1024);
}

// Adam sees each parameter once, over all ranks; norms and routers are on each rank.
TEST(StepKernels, OptimizeEachParameterOnce) {
  for (const std::string& name : builtin_models()) {
    const ModelConfig model = load_model(name);
    const auto adam = [&](std::int64_t tp, std::int64_t ep) {
      const auto kernels = step_kernels(model, {Phase::train, 1, 256, tp, ep, Element::bf16});
      return size(find(kernels, "optimizer"), "columns");
    };
    EXPECT_EQ(adam(1, 1), parameter_count(model)) << name;
    EXPECT_NEAR(4 * adam(4, 1) / parameter_count(model), 1, 0.01) << name;
    if (model.experts == 0) continue;
    EXPECT_NEAR(4 * adam(4, 4) / parameter_count(model), 1, 0.01) << name;
  }
}

TEST(StepKernels, AddTheBytesOfOneTokenToTheCache) {
  const auto bytes = [](const char* name, std::int64_t tp) {
    return kv_bytes_per_token(load_model(name), {Phase::decode, 1, 128, tp, 1, Element::bf16});
  };
  EXPECT_EQ(bytes("llama-3-8b", 1), 131072);  // 32 layers, K and V, 8 heads of 128, 2 B
  EXPECT_EQ(bytes("llama-3-70b", 1), 327680);
  EXPECT_EQ(bytes("llama-3-70b", 8), 327680 / 8);
  EXPECT_EQ(bytes("llama-3-70b", 16), 327680 / 8);  // each KV head on two ranks
  EXPECT_EQ(bytes("deepseek-v3", 1), 61 * 576 * 2);
  EXPECT_EQ(bytes("deepseek-v3", 8), 61 * 576 * 2);
  // And the kernels that append write as much.
  for (const std::string& name : builtin_models()) {
    const ModelConfig model = load_model(name);
    const StepOptions options{Phase::decode, 8, 128, 1, 1, Element::bf16};
    double appended = 0;
    for (const StepKernel& kernel : step_kernels(model, options))
      if (kernel.id == "kernel.kv_append")
        appended += size(kernel, "rows") * size(kernel, "kv_heads") * size(kernel, "head_size") *
                    double(kernel.count) * (model.latent ? 2 : 4);
    EXPECT_EQ(appended, 8 * kv_bytes_per_token(model, options)) << name;
  }
}

// What tensor parallelism divides is whole again over the ranks: all but routers, down-projections
// of latent attention, and KV heads that several ranks keep.
TEST(StepKernels, DivideOverTensorParallelRanks) {
  for (const char* name : {"llama-3-8b", "llama-3-70b"}) {
    const ModelConfig model = load_model(name);
    const auto work = [&](std::int64_t tp) {
      return double(tp) *
             gemm_operations(step_kernels(model, {Phase::prefill, 1, 512, tp, 1, Element::bf16}));
    };
    EXPECT_EQ(work(2), work(1));
    EXPECT_EQ(work(8), work(1));
  }
  const ModelConfig deepseek = load_model("deepseek-v3");
  const auto kernels = step_kernels(deepseek, {Phase::prefill, 1, 512, 8, 1, Element::bf16});
  double whole = 0;
  for (const char* layer : {"router", "qkv_down"})
    whole += 2 * 512 * size(find(kernels, layer), "n") * 7168 * double(find(kernels, layer).count);
  EXPECT_EQ(8 * gemm_operations(kernels) - 7 * whole, 2 * 512 * active_weights(deepseek));
}

TEST(StepKernels, SumOverRanksAfterEachHalfOfALayer) {
  const ModelConfig model = load_model("llama-3-8b");
  const auto sums = [&](Phase phase, std::int64_t tp) {
    return sum_of(step_kernels(model, {phase, 1, 256, tp, 1, Element::bf16}),
                  "kernel.all_reduce.one_shot");
  };
  EXPECT_EQ(sums(Phase::decode, 1), 0);
  EXPECT_EQ(sums(Phase::decode, 4), 2 * 32 + 1);           // and the embedding
  EXPECT_EQ(sums(Phase::train, 4), 2 * (2 * 32 + 1 + 1));  // and the loss; back as forth
}

TEST(StepKernels, KeepEveryCopyOfEveryToken) {
  for (const char* name : {"qwen3-moe", "deepseek-v3", "gpt-oss-120b"}) {
    const ModelConfig model = load_model(name);
    for (const auto& [tp, ep] :
         {std::pair{1, 1}, {1, 8}, {4, 4}, {4, 2}, {2, 8}, {1, 16}, {16, 16}}) {
      for (const std::int64_t batch : {1, 3, 64}) {
        const StepOptions options{Phase::decode, batch, 128, tp, ep, Element::bf16};
        const std::int64_t groups = std::max(1, ep / tp);
        std::int64_t rows = 0;
        for (std::int64_t rank = 0; rank < ep; ++rank) rows += expert_rows(model, options, rank);
        EXPECT_EQ(rows, batch * groups * model.experts_per_token) << name << " " << tp << " " << ep;
        const auto kernels = step_kernels(model, options);
        const StepKernel& up = find(kernels, "expert_gate_up");
        EXPECT_EQ(size(up, "rows"), double(expert_rows(model, options, 0)));
        EXPECT_EQ(size(up, "experts"), double(model.experts / ep));
        EXPECT_EQ(size(up, "n"), double(2 * model.expert_intermediate / std::max(1, tp / ep)));
        EXPECT_EQ(sum_of(kernels, "kernel.all_to_all") > 0, ep > tp);
      }
    }
  }
}

TEST(StepKernels, TakeTheDecodeKernelUpTo64Tokens) {
  const ModelConfig model = load_model("llama-3-8b");
  const auto id = [&](std::int64_t batch) {
    return find(step_kernels(model, {Phase::decode, batch, 128, 1, 1, Element::bf16}), "qkv").id;
  };
  EXPECT_EQ(id(64), "kernel.gemm.decode");
  EXPECT_EQ(id(65), "kernel.gemm.prefill");
}

TEST(StepKernels, HaveTheShapesOfTheTablesOfPoints) {
  const auto kernels =
      step_kernels(load_model("llama-3-8b"), {Phase::decode, 4, 1024, 1, 1, Element::bf16});
  EXPECT_EQ(find(kernels, "qkv").shape,
            (Parameters{{"m", 4.0}, {"n", 6144.0}, {"k", 4096.0}, {"type", "bf16"}}));
  EXPECT_EQ(find(kernels, "ffn_gate_up").shape,
            (Parameters{{"m", 4.0}, {"n", 28672.0}, {"k", 4096.0}, {"type", "bf16"}}));
  EXPECT_EQ(find(kernels, "attention").shape, (Parameters{{"batch", 4.0},
                                                          {"context", 1024.0},
                                                          {"heads", 32.0},
                                                          {"kv_heads", 8.0},
                                                          {"head_size", 128.0},
                                                          {"type", "bf16"}}));
  EXPECT_EQ(find(kernels, "qkv").count, 32);
  EXPECT_EQ(sum_of(kernels, "kernel.rms_norm"), 1);
  EXPECT_EQ(sum_of(kernels, "kernel.rms_norm.residual"), 64);
  EXPECT_EQ(sum_of(kernels, "kernel.sample"), 1);
  EXPECT_EQ(gemm_work(gemm_shape(find(kernels, "qkv").shape)).ops.at("bf16"),
            2.0 * 4 * 6144 * 4096);
}

TEST(StepKernels, SeeTheWindowInSlidingLayers) {
  const ModelConfig model = load_model("gpt-oss-120b");
  std::map<double, std::int64_t> contexts;
  for (const StepKernel& kernel :
       step_kernels(model, {Phase::decode, 1, 4096, 1, 1, Element::bf16}))
    if (kernel.id == "kernel.attention.decode") contexts[size(kernel, "context")] += kernel.count;
  EXPECT_EQ(contexts, (std::map<double, std::int64_t>{{128, 18}, {4096, 18}}));
  std::int64_t windows = 0;
  for (const StepKernel& kernel :
       step_kernels(model, {Phase::prefill, 1, 4096, 1, 1, Element::bf16}))
    if (kernel.shape.contains("window")) {
      windows += kernel.count;
      EXPECT_NE(kernel.missing.find("window of 128"), std::string::npos);
    }
  EXPECT_EQ(windows, 18);
  for (const StepKernel& kernel :
       step_kernels(model, {Phase::prefill, 1, 128, 1, 1, Element::bf16}))
    EXPECT_FALSE(kernel.shape.contains("window"));
}

TEST(StepKernels, QuantizeTheInputOfEach8BitProduct) {
  const auto kernels =
      step_kernels(load_model("deepseek-v3"), {Phase::prefill, 1, 512, 1, 1, Element::e4m3});
  double products = 0, quantized = 0;
  for (const StepKernel& kernel : kernels) {
    if (is_gemm(kernel) && word(kernel.shape, "type") == "e4m3") products += double(kernel.count);
    if (kernel.id == "kernel.quantize.token") quantized += double(kernel.count);
  }
  EXPECT_GT(products, 61 * 6);
  EXPECT_EQ(products, quantized);
  EXPECT_EQ(word(find(kernels, "router").shape, "type"), "bf16");
  EXPECT_EQ(word(find(kernels, "lm_head").shape, "type"), "bf16");
}

TEST(StepKernels, SayWhatHasNoKernel) {
  const auto kernels =
      step_kernels(load_model("llama-3-8b"), {Phase::train, 1, 512, 1, 1, Element::bf16});
  EXPECT_NE(find(kernels, "attention.backward").missing, "");
  EXPECT_EQ(find(kernels, "attention.backward").id, "kernel.attention.prefill.backward");
  EXPECT_EQ(find(kernels, "input_norm.backward").id, "kernel.rms_norm.backward");
  EXPECT_EQ(find(kernels, "input_norm.backward").count, 32);
}

TEST(StepKernels, RefuseDivisionsThatLeaveARest) {
  const ModelConfig llama = load_model("llama-3-8b"), qwen = load_model("qwen3-moe");
  const auto options = [](std::int64_t tp, std::int64_t ep) {
    return StepOptions{Phase::decode, 1, 128, tp, ep, Element::bf16};
  };
  EXPECT_NE(refusal(llama, options(3, 1))
                .find("32 heads cannot be divided over --tp 3; nearest: "
                      "--tp 2"),
            std::string::npos);
  EXPECT_NE(refusal(llama, options(1, 2)).find("no experts"), std::string::npos);
  EXPECT_NE(refusal(qwen, options(1, 96)).find("128 experts"), std::string::npos);
  EXPECT_NE(refusal(qwen, options(4, 6)).find("one must divide the other"), std::string::npos);
  EXPECT_NE(refusal(llama, {Phase::train, 1, 128, 1, 1, Element::e4m3}).find("bf16"),
            std::string::npos);
  EXPECT_NE(refusal(llama, {Phase::prefill, 1 << 20, 1 << 20, 1, 1, Element::bf16}).find("more"),
            std::string::npos);
  EXPECT_NE(refusal(llama, {Phase::decode, 0, 1, 1, 1, Element::bf16}).find("--batch 0"),
            std::string::npos);
}

}  // namespace
}  // namespace warpmeter
