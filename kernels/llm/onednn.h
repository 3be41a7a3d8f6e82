// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/llm/kernel.h"

namespace warpmeter {

dnnl::engine& cpu_engine();
dnnl::memory::data_type data_type(Element type);

// The operand's memory seen through `description`, which must not be larger.
dnnl::memory view(const dnnl::memory::desc& description, const Operand& operand);

// A blocked format as its tag: outer dimensions from the slowest on, capitals if they are blocked,
// then the inner blocks ("BA16a64b").
std::string format_of(const dnnl::memory::desc& description);

// Why oneDNN cannot run this type natively here, null if it can. Without AVX512_BF16 it would
// convert to f32 and back, which measures something else.
std::optional<std::string> unsupported_type(Element type, dnnl::cpu_isa isa);

// A kernel that is a sequence of oneDNN primitives.
class OneDnnKernel : public Kernel {
 public:
  void execute() final;
  Json conditions() const override;

 protected:
  // Appends a primitive; its scratchpad is ours (user mode, attributes() sets it).
  void add_step(const dnnl::primitive_desc_base& description, const dnnl::primitive& primitive,
                std::unordered_map<int, dnnl::memory> arguments);

  static dnnl::primitive_attr attributes();

 private:
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  std::vector<Step> steps_;
  std::vector<Buffer> scratchpads_;
  Json implementations_ = Json::array();
};

}  // namespace warpmeter
