// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/device_stack.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "cuda/check.h"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/launch_attention.h"
#include "kernels/llm/cuda/launch_gemm.h"

namespace warpmeter {
namespace {

constexpr std::int64_t e = bytes_of(stack_type);

// The part of a tensor of `size` bytes per element from element `index` on.
const void* from(const DeviceBuffer& buffer, std::int64_t index, std::int64_t size) {
  return buffer.as<std::byte>() + index * size;
}
void* from(DeviceBuffer const& buffer, std::int64_t index) {
  return buffer.as<std::byte>() + index * e;
}

}  // namespace

void DeviceStack::poison_caches(cudaStream_t stream) const {
  for (const Layer& layer : layers_)
    for (const DeviceBuffer* cache : {&layer.keys, &layer.values})
      GPU_CHECK(cudaMemsetAsync(cache->as<void>(), 0xff, cache->bytes(), stream));
}

void DeviceStack::multiply(std::int64_t m, std::int64_t n, std::int64_t k, const void* activations,
                           const void* weights, void* result, cudaStream_t stream) const {
  const GemmShape shape = {m, n, k, stack_type};
  if (m <= most_decode_tokens)
    launch_gemm_decode(shape, activations, weights, result, stream);
  else if (has_wgmma_ && n % 8 == 0 && k % 8 == 0)
    launch_gemm_sm90(shape, activations, weights, result, stream);
  else
    launch_gemm_prefill(shape, activations, weights, result, stream);
}

void DeviceStack::attend(const Pass& pass, const Layer& layer, cudaStream_t stream) const {
  const StackShape& s = shape_;
  const std::int64_t tokens = pass.tokens();
  const std::int64_t at = pass.decodes ? pass.first : pass.first * s.context;
  const DeviceBuffer& positions = pass.decodes ? last_positions_ : positions_;
  const DeviceBuffer& slots = pass.decodes ? last_slots_ : slots_;
  launch_rope({tokens, s.heads + s.kv_heads, s.head_size, stack_type, qkv_columns(s)},
              from(qkv_, 0), from(positions, at, 4), cosines_.as<void>(), sines_.as<void>(),
              from(qkv_, 0), stream);
  launch_kv_append(
      {tokens, pass.sequences, s.heads, s.kv_heads, s.head_size, s.page, stack_type, stack_type},
      from(qkv_, 0), from(slots, at, 4), scales_.as<void>(), layer.keys.as<void>(),
      layer.values.as<void>(), stream);
  if (pass.decodes) {
    launch_attention_decode(
        decode_attention(s),
        {from(qkv_, 0), layer.keys.as<void>(), layer.values.as<void>(), block_table_.as<void>(),
         lengths_.as<void>(), scales_.as<void>(), attended_.as<void>(), partial_.as<void>(),
         statistics_.as<void>(), packed_row(decode_attention(s))},
        stream);
    return;
  }
  AttentionShape shape = prefill_attention(s);
  shape.batch = pass.sequences;
  shape.context = pass.context;
  launch_attention_prefill(shape, packed_layout(shape), from(qkv_, 0), from(qkv_, 0), from(qkv_, 0),
                           attended_.as<void>(), stream);
}

void DeviceStack::run(const Pass& pass, cudaStream_t stream) const {
  const StackShape& s = shape_;
  const std::int64_t tokens = pass.tokens();
  const RowsShape row = {tokens, s.hidden, stack_type};
  const void* ids =
      pass.decodes ? from(last_tokens_, pass.first, 4) : from(tokens_, pass.first * s.context, 4);
  void *now = from(stream_[0], 0), *next = from(stream_[1], 0), *normed = from(normed_, 0);
  void *sum = from(sum_, 0), *qkv = from(qkv_, 0), *gate_up = from(gate_up_, 0);
  void* gated = from(gated_, 0);
  launch_gather({tokens, s.hidden, s.vocabulary, stack_type}, ids, embedding_.as<void>(), now,
                stream);
  // now += sum; normed = the norm of it.
  const auto add_and_norm = [&](const DeviceBuffer& gain) {
    launch_rms_norm_residual(row, sum, now, gain.as<void>(), next, normed, stream);
    std::swap(now, next);
  };
  for (const Layer& layer : layers_) {
    if (&layer == &layers_.front())
      launch_rms_norm(row, now, layer.attention_gain.as<void>(), normed, stream);
    else
      add_and_norm(layer.attention_gain);
    multiply(tokens, qkv_columns(s), s.hidden, normed, layer.qkv.as<void>(), qkv, stream);
    attend(pass, layer, stream);
    multiply(tokens, s.hidden, s.heads * s.head_size, from(attended_, 0), layer.output.as<void>(),
             sum, stream);
    add_and_norm(layer.ffn_gain);
    multiply(tokens, 2 * s.intermediate, s.hidden, normed, layer.gate_up.as<void>(), gate_up,
             stream);
    launch_swiglu_packed({tokens, s.intermediate, stack_type}, gate_up, gated, stream);
    multiply(tokens, s.hidden, s.intermediate, gated, layer.down.as<void>(), sum, stream);
  }
  add_and_norm(final_gain_);
  if (!pass.decodes) {
    // The last row of each sequence.
    launch_gather({pass.sequences, s.hidden, tokens, stack_type}, first_rows_.as<void>(),
                  from(normed_, (pass.context - 1) * s.hidden), last_.as<void>(), stream);
    normed = from(last_, 0);
  }
  multiply(pass.sequences, s.vocabulary, s.hidden, normed, head_.as<void>(),
           from(logits_, pass.first * s.vocabulary), stream);
}

void DeviceStack::prefill_all(std::int64_t context, cudaStream_t stream) const {
  for (std::int64_t i = 0; i < shape_.batch; ++i) run({false, i, 1, context}, stream);
}

void DeviceStack::decode_all(cudaStream_t stream) const {
  run({true, 0, shape_.batch, shape_.context}, stream);
}

void DeviceStack::enqueue(cudaStream_t stream) const {
  if (shape_.phase == Phase::decode) return decode_all(stream);
  run({false, 0, shape_.batch, shape_.context}, stream);
}

std::vector<float> DeviceStack::logits(cudaStream_t stream) const {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(shape_.batch * shape_.vocabulary));
  GPU_CHECK(cudaMemcpyAsync(bits.data(), logits_.as<void>(), 2 * bits.size(),
                            cudaMemcpyDeviceToHost, stream));
  GPU_CHECK(cudaStreamSynchronize(stream));
  std::vector<float> values;
  for (const std::uint16_t one : bits) values.push_back(bf16_to_float(one));
  return values;
}

void DeviceStack::verify(cudaStream_t stream) {
  const std::vector<float> step = logits(stream);
  GPU_CHECK(cudaMemsetAsync(logits_.as<void>(), 0xff, logits_.bytes(), stream));
  poison_caches(stream);
  if (shape_.phase == Phase::decode) {
    prefill_all(shape_.context, stream);
  } else {
    if (shape_.context > 1) prefill_all(shape_.context - 1, stream);
    decode_all(stream);
  }
  const std::vector<float> other = logits(stream);
  difference_ = largest_difference(step, other, shape_.vocabulary);
  if (!(difference_ <= stack_tolerance(shape_.layers)))
    throw std::runtime_error(
        fmt::format("corrupt: logits of prefill and of decoding differ by {:.3g} of their norm, at "
                    "most {:.3g} expected",
                    difference_, stack_tolerance(shape_.layers)));
  enqueue(stream);
  GPU_CHECK(cudaStreamSynchronize(stream));
}

Json DeviceStack::conditions() const {
  return {{"implementation", "CUDA"},
          {"checked_results", shape_.batch * shape_.vocabulary},
          {"logits_difference", difference_}};
}

double largest_difference(std::span<const float> a, std::span<const float> b,
                          std::int64_t row_columns) {
  double largest = 0;
  const auto columns = static_cast<std::size_t>(row_columns);
  for (std::size_t begin = 0; begin < a.size(); begin += columns) {
    double apart = 0, whole = 0;
    for (std::size_t i = begin; i < begin + columns; ++i) {
      apart += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
      whole += double(b[i]) * b[i];
    }
    const double relative = std::sqrt(apart / whole);
    if (!(relative <= largest)) largest = relative;  // NaN, too, is the largest
  }
  return largest;
}

double stack_tolerance(std::int64_t layers) {
  return 4 * std::sqrt(2.0 * 8 * static_cast<double>(layers)) * 0x1p-9 / std::sqrt(3.0);
}

}  // namespace warpmeter
