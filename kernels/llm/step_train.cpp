// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <utility>

#include "kernels/llm/step_list.h"

namespace warpmeter {
namespace {

std::int64_t whole(const Parameters& shape, const char* name) {
  return static_cast<std::int64_t>(number(shape, name).value_or(0));
}

// C[m, n] = A[m, k] W[n, k]: the gradient of A is [m, k] over n, that of W is [n, k] over m.
void add_gemm_gradients(StepList& list, const StepKernel& forward) {
  const std::int64_t m = whole(forward.shape, "m"), n = whole(forward.shape, "n");
  const std::int64_t k = whole(forward.shape, "k");
  const auto gemm = [&](const char* which, std::int64_t m_, std::int64_t n_, std::int64_t k_) {
    list.add(m_ <= 64 ? "kernel.gemm.decode" : "kernel.gemm.prefill", forward.layer + which,
             {{"m", double(m_)}, {"n", double(n_)}, {"k", double(k_)}}, forward.count);
  };
  gemm(".dgrad", m, k, n);
  gemm(".wgrad", n, k, m);
}

void add_grouped_gradients(StepList& list, const StepKernel& forward) {
  Parameters shape = forward.shape;
  std::swap(shape.at("n"), shape.at("k"));
  list.add(forward.id, forward.layer + ".dgrad", shape, forward.count);
  list.add(forward.id, forward.layer + ".wgrad", forward.shape, forward.count,
           "a grouped GEMM whose groups divide k; kernel.gemm.grouped divides m");
}

// What has no kernel of ours, and the nearest thing that has.
const char* without_kernel(const std::string& id) {
  if (id == "kernel.attention.prefill")
    return "no backward pass of attention here; its forward pass is kernel.attention.prefill";
  if (id == "kernel.swiglu") return "no backward pass of SwiGLU here; kernel.swiglu is its forward";
  if (id == "kernel.gather")
    return "no sum of gradients into the embedding here; kernel.gather is its forward";
  if (id == "kernel.moe.route") return "no backward pass of routing here; its forward is there";
  return "";
}

void add_gradient(StepList& list, const StepKernel& forward) {
  const std::string& id = forward.id;
  const std::string layer = forward.layer + ".backward";
  if (id == "kernel.gemm.prefill" || id == "kernel.gemm.decode") {
    add_gemm_gradients(list, forward);
  } else if (id == "kernel.gemm.grouped") {
    add_grouped_gradients(list, forward);
  } else if (id.rfind("kernel.rms_norm", 0) == 0) {
    list.add("kernel.rms_norm.backward", layer, forward.shape, forward.count);
  } else if (id == "kernel.moe.permute") {  // copies come from copies' sums, and the reverse
    list.add("kernel.moe.unpermute", layer, forward.shape, forward.count);
  } else if (id == "kernel.moe.unpermute") {
    list.add("kernel.moe.permute", layer, forward.shape, forward.count);
  } else if (id == "kernel.cross_entropy") {
    return;  // gives its gradient with the loss
  } else if (*without_kernel(id) != '\0') {
    list.add(id + ".backward", layer, forward.shape, forward.count, without_kernel(id));
  } else {  // RoPE turns back; sums over ranks and exchanges are their own transposes
    list.add(id, layer, forward.shape, forward.count, forward.missing);
  }
}

}  // namespace

void add_backward(StepList& list) {
  const std::vector<StepKernel> forward = list.kernels();
  for (auto kernel = forward.rbegin(); kernel != forward.rend(); ++kernel)
    add_gradient(list, *kernel);
  list.add("kernel.adam", "optimizer", {{"rows", 1.0}, {"columns", list.weights()}}, 1);
}

}  // namespace warpmeter
