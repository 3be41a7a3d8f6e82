// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/onednn.h"

#include <algorithm>
#include <numeric>

namespace warpmeter {
namespace {

dnnl::stream& cpu_stream() {
  static dnnl::stream stream(cpu_engine());
  return stream;
}

}  // namespace

dnnl::engine& cpu_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type data_type(Element type) {
  if (type == Element::bf16) return dnnl::memory::data_type::bf16;
  if (type == Element::i32) return dnnl::memory::data_type::s32;
  return dnnl::memory::data_type::f32;
}

dnnl::memory view(const dnnl::memory::desc& description, const Operand& operand) {
  if (description.get_size() > operand.memory.size())
    throw std::logic_error("view larger than operand " + operand.name);
  return {description, cpu_engine(), operand.memory.data()};
}

std::string format_of(const dnnl::memory::desc& description) {
  if (description.data.format_kind != dnnl_blocked) return "opaque";
  const dnnl_blocking_desc_t& blocking = description.data.format_desc.blocking;
  std::string inner;
  std::vector<bool> blocked(static_cast<std::size_t>(description.data.ndims));
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    const auto dimension = static_cast<std::size_t>(blocking.inner_idxs[i]);
    inner += std::to_string(blocking.inner_blks[i]) + static_cast<char>('a' + dimension);
    blocked[dimension] = true;
  }
  std::vector<std::size_t> order(blocked.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return blocking.strides[a] > blocking.strides[b];
  });
  std::string outer;
  for (const std::size_t d : order) outer += static_cast<char>((blocked[d] ? 'A' : 'a') + d);
  return outer + inner;
}

std::optional<std::string> unsupported_type(Element type, dnnl::cpu_isa isa) {
  // oneDNN's ISA values are sets of bits: each contains the bits of what it extends.
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  if (type != Element::bf16 || (static_cast<unsigned>(isa) & needed) == needed) return std::nullopt;
  return "bf16 needs AVX512_BF16, which this CPU (or ONEDNN_MAX_CPU_ISA) does not offer";
}

void OneDnnKernel::execute() {
  for (const Step& step : steps_) step.primitive.execute(cpu_stream(), step.arguments);
  cpu_stream().wait();
}

Json OneDnnKernel::conditions() const {
  double scratchpad = 0;
  for (const Buffer& buffer : scratchpads_) scratchpad += static_cast<double>(buffer.size());
  Json json;
  json["implementation"] = implementations_;
  json["scratchpad"] = scratchpad;
  return json;
}

void OneDnnKernel::add_step(const dnnl::primitive_desc_base& description,
                            const dnnl::primitive& primitive,
                            std::unordered_map<int, dnnl::memory> arguments) {
  const dnnl::memory::desc scratchpad = description.scratchpad_desc();
  if (scratchpad.get_size() > 0) {
    scratchpads_.emplace_back(scratchpad.get_size());
    arguments.emplace(DNNL_ARG_SCRATCHPAD,
                      dnnl::memory(scratchpad, cpu_engine(), scratchpads_.back().data()));
  }
  implementations_.push_back(description.impl_info_str());
  steps_.push_back({primitive, std::move(arguments)});
}

dnnl::primitive_attr OneDnnKernel::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace warpmeter
