// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <vector>

#include "kernels/llm/cuda/device_kernel.h"
#include "kernels/llm/layer_stack.h"

namespace warpmeter {

// A stack of layers (layer_stack.h) on the current device: random weights, random tokens, a paged
// cache. Products of at most 64 tokens run on kernel.gemm.decode, others on kernel.gemm.prefill, or
// kernel.gemm.sm90 where the device and the shape allow it.
//
// Layouts, all row-major: weights [outputs, inputs]; tokens' rows [tokens, columns]; caches per
// layer [pages, kv_heads, page, head_size], each sequence's pages in a row.
class DeviceStack : public DeviceWork {
 public:
  // Throws CudaError. Decoding also runs all positions before, once, to fill the caches.
  DeviceStack(const StackShape& shape, std::uint32_t seed, cudaStream_t stream);

  // One step: of prefill, or of decoding the last position, again at each call.
  void enqueue(cudaStream_t stream) const override;

  // Logits of each sequence's last token by two ways, over a prompt of all tokens and over one of
  // all but the last, which is then decoded from a poisoned cache: a mistake in positions, slots,
  // pages or masks shows as a difference. Throws std::runtime_error("corrupt: ...") beyond
  // stack_tolerance. Leaves the state as it was, all logits of the shape's phase in place.
  void verify(cudaStream_t stream) override;

  Json conditions() const override;

  // Logits [batch, vocabulary] of bf16 after the last step, as float.
  std::vector<float> logits(cudaStream_t stream) const;

  // The operands, for a reference: bits of bf16, of one tensor.
  struct Layer {
    DeviceBuffer attention_gain, qkv, output, ffn_gain, gate_up, down, keys, values;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  const DeviceBuffer& embedding() const { return embedding_; }
  const DeviceBuffer& final_gain() const { return final_gain_; }
  const DeviceBuffer& head() const { return head_; }
  const std::vector<std::int32_t>& tokens() const { return host_tokens_; }  // [batch, context]

 private:
  // What one pass through the layers works on.
  struct Pass {
    bool decodes;
    std::int64_t first, sequences;  // which sequences; several only with their whole context
    std::int64_t context;           // positions of each, from the first one on
    std::int64_t tokens() const { return decodes ? sequences : sequences * context; }
  };
  void make_weights(std::uint32_t seed, cudaStream_t stream);
  void make_inputs(std::uint32_t seed, cudaStream_t stream);
  void run(const Pass& pass, cudaStream_t stream) const;
  void attend(const Pass& pass, const Layer& layer, cudaStream_t stream) const;
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const void* activations,
                const void* weights, void* result, cudaStream_t stream) const;
  void prefill_all(std::int64_t context, cudaStream_t stream) const;
  void decode_all(cudaStream_t stream) const;
  void poison_caches(cudaStream_t stream) const;

  StackShape shape_;
  bool has_wgmma_ = false;
  std::vector<Layer> layers_;
  DeviceBuffer embedding_, final_gain_, head_;
  std::vector<std::int32_t> host_tokens_;
  // Of all tokens [batch, context], and of the last of each sequence [batch].
  DeviceBuffer tokens_, positions_, slots_, last_tokens_, last_positions_, last_slots_;
  DeviceBuffer first_rows_;  // [batch]: of each sequence's first token
  DeviceBuffer block_table_, lengths_, scales_, cosines_, sines_;
  // Between kernels.
  DeviceBuffer stream_[2], normed_, qkv_, attended_, sum_, gate_up_, gated_, last_, logits_;
  DeviceBuffer partial_, statistics_;
  double difference_ = 0;  // found by verify
};

// The largest difference of two rows of `columns` numbers, relative to the norm of b's.
double largest_difference(std::span<const float> a, std::span<const float> b, std::int64_t columns);

// Bound of the relative difference of logits (in the norm of a sequence's) between two right ways
// through `layers` layers: each rounds 8 tensors of a layer to bf16 with independent errors of 2^-9
// / sqrt(3) relative, their squares add up over both ways, and four times the sum's root is
// allowed.
double stack_tolerance(std::int64_t layers);

}  // namespace warpmeter
