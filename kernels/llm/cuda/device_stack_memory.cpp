// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "cuda/check.h"
#include "kernels/llm/cuda/device_stack.h"
#include "kernels/llm/rope.h"

namespace warpmeter {
namespace {

constexpr std::int64_t e = bytes_of(stack_type);

DeviceBuffer elements(std::int64_t count) {
  return DeviceBuffer(static_cast<std::size_t>(count * e));
}

void upload(const DeviceBuffer& to, const void* from, std::size_t bytes, cudaStream_t stream) {
  GPU_CHECK(cudaMemcpyAsync(to.as<void>(), from, bytes, cudaMemcpyHostToDevice, stream));
  GPU_CHECK(cudaStreamSynchronize(stream));
}

template <typename T>
DeviceBuffer uploaded(const std::vector<T>& values, cudaStream_t stream) {
  DeviceBuffer buffer(values.size() * sizeof(T));
  upload(buffer, values.data(), values.size() * sizeof(T), stream);
  return buffer;
}

// Normal numbers; the host keeps no copy, so that a model may be as large as the device's memory.
DeviceBuffer normal(std::int64_t count, std::uint32_t seed, double deviation, cudaStream_t stream) {
  const Operand values("weights", Role::input, stack_type, count);
  fill_normal(values, seed, deviation);
  DeviceBuffer buffer = elements(count);
  upload(buffer, values.memory.data(), values.memory.size(), stream);
  return buffer;
}

double deviation_of(std::int64_t inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); }

bool has_compute_capability_9() {
  int device = 0, major = 0;
  GPU_CHECK(cudaGetDevice(&device));
  GPU_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major == 9;
}

}  // namespace

DeviceStack::DeviceStack(const StackShape& shape, std::uint32_t seed, cudaStream_t stream)
    : shape_(shape), has_wgmma_(has_compute_capability_9()) {
  make_weights(seed, stream);
  make_inputs(seed, stream);
  const std::int64_t tokens = std::max(step_tokens(shape_), shape_.context);
  for (DeviceBuffer& buffer : stream_) buffer = elements(tokens * shape_.hidden);
  normed_ = elements(tokens * shape_.hidden);
  sum_ = elements(tokens * shape_.hidden);
  qkv_ = elements(tokens * qkv_columns(shape_));
  attended_ = elements(tokens * shape_.heads * shape_.head_size);
  gate_up_ = elements(tokens * 2 * shape_.intermediate);
  gated_ = elements(tokens * shape_.intermediate);
  last_ = elements(shape_.batch * shape_.hidden);
  logits_ = elements(shape_.batch * shape_.vocabulary);
  const std::int64_t parts = shape_.batch * shape_.heads * attention_splits(shape_.context);
  partial_ = DeviceBuffer(static_cast<std::size_t>(4 * parts * shape_.head_size));
  statistics_ = DeviceBuffer(static_cast<std::size_t>(8 * parts));
  poison_caches(stream);
  if (shape_.phase == Phase::decode && shape_.context > 1) prefill_all(shape_.context - 1, stream);
  GPU_CHECK(cudaStreamSynchronize(stream));
}

void DeviceStack::make_weights(std::uint32_t seed, cudaStream_t stream) {
  const StackShape& s = shape_;
  const auto make = [&](std::int64_t outputs, std::int64_t inputs) {
    return normal(outputs * inputs, seed++, deviation_of(inputs), stream);
  };
  const auto gain = [&] { return normal(s.hidden, seed++, 1, stream); };
  const std::int64_t cache =
      s.batch * pages_per_sequence(decode_attention(s)) * s.page * s.kv_heads * s.head_size;
  for (std::int64_t i = 0; i < s.layers; ++i) {
    Layer layer;
    layer.attention_gain = gain();
    layer.qkv = make(qkv_columns(s), s.hidden);
    layer.output = make(s.hidden, s.heads * s.head_size);
    layer.ffn_gain = gain();
    layer.gate_up = make(2 * s.intermediate, s.hidden);
    layer.down = make(s.hidden, s.intermediate);
    layer.keys = elements(cache);
    layer.values = elements(cache);
    layers_.push_back(std::move(layer));
  }
  embedding_ = normal(s.vocabulary * s.hidden, seed++, 1, stream);
  final_gain_ = gain();
  head_ = make(s.vocabulary, s.hidden);
}

void DeviceStack::make_inputs(std::uint32_t seed, cudaStream_t stream) {
  const StackShape& s = shape_;
  const std::int64_t pages = pages_per_sequence(decode_attention(s)), count = s.batch * s.context;
  const auto all = static_cast<std::size_t>(count), sequences = static_cast<std::size_t>(s.batch);
  std::mt19937 random(seed);
  host_tokens_.resize(all);
  for (std::int32_t& token : host_tokens_)
    token = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(s.vocabulary));
  std::vector<std::int32_t> table(static_cast<std::size_t>(s.batch * pages));
  std::iota(table.begin(), table.end(), 0);
  std::shuffle(table.begin(), table.end(), random);
  std::vector<std::int32_t> positions(all), slots(all), tokens(sequences), places(sequences),
      last_slots(sequences), first_rows(sequences);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t position = i % s.context;
    const std::int32_t page =
        table[static_cast<std::size_t>(i / s.context * pages + position / s.page)];
    positions[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(position);
    slots[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(page * s.page + position % s.page);
  }
  for (std::size_t i = 0; i < sequences; ++i) {
    const std::size_t last = (i + 1) * static_cast<std::size_t>(s.context) - 1;
    tokens[i] = host_tokens_[last], places[i] = positions[last], last_slots[i] = slots[last];
    first_rows[i] = static_cast<std::int32_t>(i * static_cast<std::size_t>(s.context));
  }
  tokens_ = uploaded(host_tokens_, stream), positions_ = uploaded(positions, stream);
  slots_ = uploaded(slots, stream), last_tokens_ = uploaded(tokens, stream);
  last_positions_ = uploaded(places, stream), last_slots_ = uploaded(last_slots, stream);
  first_rows_ = uploaded(first_rows, stream), block_table_ = uploaded(table, stream);
  lengths_ =
      uploaded(std::vector<std::int32_t>(sequences, static_cast<std::int32_t>(s.context)), stream);
  scales_ = uploaded(std::vector<float>{1, 1}, stream);
  const RotaryTables turns = rotary_tables(s.context, s.head_size);
  cosines_ = uploaded(turns.cosines, stream), sines_ = uploaded(turns.sines, stream);
}

}  // namespace warpmeter
