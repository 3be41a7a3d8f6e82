// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The stack of layers on the emulated GPU against a reference in double precision that rounds to
// bf16 where the kernels store.
#include <cmath>
#include <random>

#include "cuda/check.h"
#include "kernels/llm/cuda/device_stack.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

using Vector = std::vector<double>;

// A mistake for the reference to make, to see that the comparison finds it.
enum class Mistake { none, no_rotation, no_residual, no_mask, other_kv_head, up_before_gate, late };

double rounded(double value) { return bf16_to_float(float_to_bf16(static_cast<float>(value))); }

Vector download(const DeviceBuffer& buffer) {
  std::vector<std::uint16_t> bits(buffer.bytes() / 2);
  GPU_CHECK(cudaMemcpy(bits.data(), buffer.as<void>(), buffer.bytes(), cudaMemcpyDeviceToHost));
  Vector values;
  for (const std::uint16_t one : bits) values.push_back(bf16_to_float(one));
  return values;
}

// One sequence after the other, token by token, every key and value kept.
class Reference {
 public:
  Reference(const StackShape& shape, const DeviceStack& stack, Mistake mistake)
      : s_(shape), stack_(stack), mistake_(mistake) {
    for (const DeviceStack::Layer& layer : stack.layers())
      layers_.push_back({download(layer.attention_gain), download(layer.qkv),
                         download(layer.output), download(layer.ffn_gain), download(layer.gate_up),
                         download(layer.down)});
    embedding_ = download(stack.embedding());
    gain_ = download(stack.final_gain());
    head_ = download(stack.head());
  }

  // Logits of the last token of `sequence`.
  Vector logits(std::int64_t sequence) {
    std::vector<Vector> rows;
    for (std::int64_t t = 0; t < s_.context; ++t) {
      const auto token = stack_.tokens()[static_cast<std::size_t>(sequence * s_.context + t)];
      rows.emplace_back(embedding_.begin() + token * s_.hidden,
                        embedding_.begin() + (token + 1) * s_.hidden);
    }
    for (const Layer& layer : layers_) forward(layer, rows);
    return product(head_, norm(rows.back(), gain_));
  }

 private:
  struct Layer {
    Vector attention_gain, qkv, output, ffn_gain, gate_up, down;
  };

  static Vector product(const Vector& weights, const Vector& x) {
    Vector y(weights.size() / x.size());
    for (std::size_t row = 0; row < y.size(); ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += weights[row * x.size() + i] * x[i];
      y[row] = rounded(sum);
    }
    return y;
  }

  static Vector norm(const Vector& x, const Vector& gain) {
    double squares = 0;
    for (const double one : x) squares += one * one;
    const double scale = 1 / std::sqrt(squares / double(x.size()) + rms_epsilon);
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = rounded(x[i] * scale * gain[i]);
    return y;
  }

  void rotate(Vector& qkv, std::int64_t position) const {
    if (mistake_ == Mistake::no_rotation) return;
    if (mistake_ == Mistake::late && position == s_.context - 1) --position;
    const std::int64_t half = s_.head_size / 2;
    for (std::int64_t head = 0; head < s_.heads + s_.kv_heads; ++head)
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle = double(position) * std::pow(500000.0, -double(i) / double(half));
        double& a = qkv[static_cast<std::size_t>(head * s_.head_size + i)];
        double& b = qkv[static_cast<std::size_t>(head * s_.head_size + half + i)];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = rounded(b * std::cos(angle) + a * std::sin(angle));
        a = rounded(turned);
      }
  }

  Vector attend(const std::vector<Vector>& rows, std::size_t query) const {
    const std::int64_t d = s_.head_size, group = s_.heads / s_.kv_heads;
    const std::size_t end = mistake_ == Mistake::no_mask ? rows.size() : query + 1;
    Vector result(static_cast<std::size_t>(s_.heads * d));
    for (std::int64_t head = 0; head < s_.heads; ++head) {
      std::int64_t kv = head / group;
      if (mistake_ == Mistake::other_kv_head) kv = (kv + 1) % s_.kv_heads;
      const auto key = static_cast<std::size_t>((s_.heads + kv) * d);
      const auto value = static_cast<std::size_t>((s_.heads + s_.kv_heads + kv) * d);
      const auto at = static_cast<std::size_t>(head * d);
      Vector scores(end);
      double sum = 0;
      for (std::size_t j = 0; j < end; ++j) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(d); ++i)
          scores[j] += rows[query][at + i] * rows[j][key + i];
        sum += scores[j] = std::exp(scores[j] / std::sqrt(double(d)));
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(d); ++i) {
        double mean = 0;
        for (std::size_t j = 0; j < end; ++j) mean += scores[j] / sum * rows[j][value + i];
        result[at + i] = rounded(mean);
      }
    }
    return result;
  }

  Vector feed_forward(const Layer& layer, const Vector& x) const {
    const Vector both = product(layer.gate_up, x);
    const std::size_t half = both.size() / 2;
    Vector gated(half);
    for (std::size_t i = 0; i < half; ++i) {
      double gate = both[i], up = both[half + i];
      if (mistake_ == Mistake::up_before_gate) std::swap(gate, up);
      gated[i] = rounded(gate / (1 + std::exp(-gate)) * up);
    }
    return product(layer.down, gated);
  }

  void add(Vector& to, const Vector& more) const {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = mistake_ == Mistake::no_residual ? more[i] : rounded(to[i] + more[i]);
  }

  void forward(const Layer& layer, std::vector<Vector>& rows) const {
    std::vector<Vector> qkv;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      qkv.push_back(product(layer.qkv, norm(rows[t], layer.attention_gain)));
      rotate(qkv.back(), static_cast<std::int64_t>(t));
    }
    for (std::size_t t = 0; t < rows.size(); ++t) {
      add(rows[t], product(layer.output, attend(qkv, t)));
      add(rows[t], feed_forward(layer, norm(rows[t], layer.ffn_gain)));
    }
  }

  StackShape s_;
  const DeviceStack& stack_;
  Mistake mistake_;
  std::vector<Layer> layers_;
  Vector embedding_, gain_, head_;
};

class Stack : public OnEmulatedGpu {
 protected:
  static StackShape shape(Phase phase, std::int64_t batch, std::int64_t context) {
    StackShape s;
    s.layers = 2, s.hidden = 128, s.intermediate = 192, s.vocabulary = 96;
    s.heads = 4, s.kv_heads = 2, s.head_size = 64;
    s.phase = phase, s.batch = batch, s.context = context;
    return s;
  }

  static double difference(const StackShape& s, const DeviceStack& stack,
                           const std::vector<float>& logits, Mistake mistake) {
    Reference reference(s, stack, mistake);
    std::vector<float> expected;
    for (std::int64_t i = 0; i < s.batch; ++i)
      for (const double one : reference.logits(i)) expected.push_back(static_cast<float>(one));
    return largest_difference(logits, expected, s.vocabulary);
  }
};

TEST_F(Stack, GivesTheLogitsOfAReference) {
  for (const Phase phase : {Phase::prefill, Phase::decode})
    for (const auto& [batch, context] : {std::pair{1, 1}, {1, 16}, {3, 19}}) {
      SCOPED_TRACE(testing::Message() << to_string(phase) << " " << batch << " x " << context);
      const StackShape s = shape(phase, batch, context);
      const Stream stream = make_stream();
      DeviceStack stack(s, 7, stream.get());
      stack.enqueue(stream.get());
      const std::vector<float> logits = stack.logits(stream.get());
      EXPECT_LT(difference(s, stack, logits, Mistake::none), stack_tolerance(s.layers));
      EXPECT_NO_THROW(stack.verify(stream.get()));
      EXPECT_EQ(stack.logits(stream.get()), logits);  // verifying leaves the state as it was
    }
}

TEST_F(Stack, DiffersFromAReferenceWithAnyMistake) {
  const StackShape s = shape(Phase::decode, 1, 19);
  const Stream stream = make_stream();
  DeviceStack stack(s, 7, stream.get());
  stack.enqueue(stream.get());
  const std::vector<float> logits = stack.logits(stream.get());
  for (const Mistake mistake : {Mistake::no_rotation, Mistake::no_residual, Mistake::no_mask,
                                Mistake::other_kv_head, Mistake::up_before_gate, Mistake::late})
    EXPECT_GT(difference(s, stack, logits, mistake), 2 * stack_tolerance(s.layers))
        << static_cast<int>(mistake);
}

// A page of the cache that another sequence has overwritten.
TEST_F(Stack, FindsADamagedCache) {
  const StackShape s = shape(Phase::decode, 2, 19);
  const Stream stream = make_stream();
  DeviceStack stack(s, 7, stream.get());
  const DeviceBuffer& values = stack.layers()[1].values;
  GPU_CHECK(cudaMemcpy(values.as<void>(), stack.head().as<void>(), values.bytes() / 4,
                       cudaMemcpyDeviceToDevice));
  stack.enqueue(stream.get());
  EXPECT_THROW(stack.verify(stream.get()), std::runtime_error);
}

// Every launch, read and write of the model's step.
TEST_F(Stack, LaunchesWhatItsWorkSays) {
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const StackShape s = shape(phase, 2, 33);
    const Counted counted =
        run([&](cudaStream_t stream) { return std::make_unique<DeviceStack>(s, 7, stream); });
    const Work work = stack_work(s);
    EXPECT_EQ(counted.launches, work.launches);
    // L2 keeps what passes from kernel to kernel, so that DRAM sees at most the weights and caches.
    EXPECT_LT(counted.dram_read, work.bytes_read);
  }
}

}  // namespace
}  // namespace warpmeter
