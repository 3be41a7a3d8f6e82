// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/library/cudnn_attention.h"

#include <cudnn_frontend.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "cuda/handles.h"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // through which the front end finds cuDNN
}

namespace warpmeter {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

enum Id : std::int64_t { q_id = 1, k_id, v_id, o_id };

// Empty if the library is there.
const std::string& load_failure() {
  static const std::string why = []() -> std::string {
    fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    return fe::cudnn_dlhandle == nullptr ? "libcudnn.so.9 not found" : "";
  }();
  return why;
}

void check(fe::error_t error, const char* step) {
  if (error.is_bad())
    throw std::runtime_error(fmt::format("cuDNN {}: {}", step, error.get_message()));
}

void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", call, fe::detail::get_error_string(status)));
}

cudnnHandle_t make_handle() {
  if (!load_failure().empty()) throw std::runtime_error(load_failure());
  cudnnHandle_t handle = nullptr;
  check(fe::detail::create_handle(&handle), "cudnnCreate");
  return handle;
}

void destroy_handle(cudnnHandle_t handle) { (void)fe::detail::destroy_handle(handle); }

using Handle = UniqueHandle<cudnnHandle_t, destroy_handle>;

// A tensor [batch, head, token, head_size] by its strides in elements.
std::vector<std::int64_t> sizes(const AttentionShape& s, std::int64_t heads) {
  return {s.batch, heads, s.context, s.head_size};
}
std::vector<std::int64_t> strides(const HeadRows& rows) {
  return {rows.batch, rows.head, rows.token, 1};
}

}  // namespace

struct CudnnAttention::Plan {
  Handle handle;
  AttentionLayout layout;
  std::int64_t element = 0;  // B
  fe::graph::Graph graph;
  DeviceBuffer workspace;
  std::int64_t workspace_bytes = 0;

  Plan(const AttentionShape& s, const AttentionLayout& where)
      : handle(make_handle()), layout(where), element(static_cast<std::int64_t>(bytes_of(s.type))) {
    graph
        .set_io_data_type(s.type == Element::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    const auto input = [&](const char* name, Id id, std::int64_t heads, const HeadRows& rows) {
      return graph.tensor(fe::graph::Tensor_attributes()
                              .set_name(name)
                              .set_uid(id)
                              .set_dim(sizes(s, heads))
                              .set_stride(strides(rows)));
    };
    const Tensor q = input("q", q_id, s.heads, layout.q);
    const Tensor k = input("k", k_id, s.kv_heads, layout.k);
    const Tensor v = input("v", v_id, s.kv_heads, layout.v);
    const auto options = fe::graph::SDPA_attributes()
                             .set_name("attention")
                             .set_generate_stats(false)
                             .set_causal_mask(true)
                             .set_attn_scale(1 / std::sqrt(static_cast<float>(s.head_size)));
    const Tensor o = graph.sdpa(q, k, v, options)[0];
    o->set_output(true).set_uid(o_id).set_dim(sizes(s, s.heads)).set_stride(strides(layout.o));
    check(graph.build(handle.get(), {fe::HeurMode_t::A}), "has no engine for this attention");
    check(graph.get_workspace_size(workspace_bytes), "workspace");
    workspace = DeviceBuffer(static_cast<std::size_t>(std::max<std::int64_t>(workspace_bytes, 1)));
  }
};

std::optional<std::string> cudnn_missing() {
  try {
    const Handle handle(make_handle());
    return std::nullopt;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

CudnnAttention::CudnnAttention(const AttentionShape& shape, const AttentionLayout& layout)
    : plan_(std::make_unique<Plan>(shape, layout)) {}

CudnnAttention::~CudnnAttention() = default;

void CudnnAttention::enqueue(const void* qkv, void* o, cudaStream_t stream) const {
  Plan& plan = *plan_;
  const auto at = [&](const HeadRows& rows) -> void* {
    return static_cast<std::byte*>(const_cast<void*>(qkv)) + rows.first * plan.element;
  };
  check(fe::detail::set_stream(plan.handle.get(), stream), "cudnnSetStream");
  std::unordered_map<std::int64_t, void*> tensors = {
      {q_id, at(plan.layout.q)}, {k_id, at(plan.layout.k)}, {v_id, at(plan.layout.v)}, {o_id, o}};
  check(plan.graph.execute(plan.handle.get(), tensors, plan.workspace.as<void>()), "execute");
}

Json CudnnAttention::conditions() const {
  return {{"implementation", "cuDNN"},
          {"library_version", fe::detail::get_backend_version()},
          {"workspace", plan_->workspace_bytes}};
}

}  // namespace warpmeter
