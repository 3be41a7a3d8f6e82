// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// atom red: read, modify and write, one lane after the other.
#include <cstring>

#include "emulator/decode/access.h"
#include "emulator/decode/atomic_ops.h"
#include "emulator/decode/decoder.h"

namespace emulator {

ptx::Space access_space(const ptx::Instruction& in);

namespace {

using U64 = std::uint64_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

using atomics::Add;
using atomics::AddBf16;
using atomics::AddBf16x2;
using atomics::AddF16;
using atomics::AddF16x2;
using atomics::And;
using atomics::Cas;
using atomics::Dec;
using atomics::Exch;
using atomics::Inc;
using atomics::Max;
using atomics::Min;
using atomics::Or;
using atomics::U16;
using atomics::U32;
using atomics::Xor;

// Host code may poll or change mapped memory while this runs; a lane's update is one access each
// way.
template <typename F, typename T>
void atomic(Warp& w, const Instr& i, U32 mask) {
  Pointers pointers;
  resolve(w, i, mask, pointers);
  const std::int32_t* parts = i.count == 1 ? nullptr : &w.program().extra[i.extra];
  for_lanes(mask, [&](int l) {
    for (int n = 0; n < i.count; ++n) {
      std::byte* at =
          pointers[static_cast<std::size_t>(l)] + static_cast<std::size_t>(n) * sizeof(T);
      T old;
      std::memcpy(&old, at, sizeof old);
      const std::int32_t source = parts != nullptr ? parts[n] : i.b;
      const T c = i.c == -1 ? T{} : lane_of<T>(w, i.c, l);
      const T value = F::of(old, lane_of<T>(w, source, l), c);
      std::memcpy(at, &value, sizeof value);
      const std::int32_t to = parts != nullptr && i.dst != -1 ? parts[i.count + n] : i.dst;
      if (to != -1) lane_of<T>(w, to, l) = old;
    }
  });
}

template <typename F>
Handler bits_of(int bytes) {
  return bytes == 2 ? atomic<F, U16> : bytes == 4 ? atomic<F, U32> : atomic<F, U64>;
}
template <typename F>
Handler ordered(ptx::Type type) {
  if (type.kind == ptx::Kind::signed_int) return type.bytes == 4 ? atomic<F, I32> : atomic<F, I64>;
  return type.bytes == 4 ? atomic<F, U32> : atomic<F, U64>;
}

Handler choose(const ptx::Instruction& in, ptx::Type type) {
  if (in.has("add")) {
    if (type.name == "f32") return atomic<Add, float>;
    if (type.name == "f64") return atomic<Add, double>;
    if (type.name == "f16x2") return atomic<AddF16x2, U32>;
    if (type.name == "bf16x2") return atomic<AddBf16x2, U32>;
    if (type.name == "f16") return atomic<AddF16, U16>;
    if (type.name == "bf16") return atomic<AddBf16, U16>;
    return bits_of<Add>(type.bytes);
  }
  if (in.has("exch")) return type.bytes == 16 ? atomic<Exch, U128> : bits_of<Exch>(type.bytes);
  if (in.has("cas")) return type.bytes == 16 ? atomic<Cas, U128> : bits_of<Cas>(type.bytes);
  if (type.bytes > 8) return nullptr;
  if (in.has("and")) return bits_of<And>(type.bytes);
  if (in.has("or")) return bits_of<Or>(type.bytes);
  if (in.has("xor")) return bits_of<Xor>(type.bytes);
  if (type.kind == ptx::Kind::real) return nullptr;
  if (in.has("min")) return ordered<Min>(type);
  if (in.has("max")) return ordered<Max>(type);
  if (in.has("inc")) return atomic<Inc, U32>;
  if (in.has("dec")) return atomic<Dec, U32>;
  return nullptr;
}

}  // namespace

void decode_atomic(Builder& b) {
  const bool returns = b.in.base() == "atom";
  const ptx::Type type = b.in.type();
  Instr& out = b.out;
  out.op_class = OpClass::atomic;
  out.space = access_space(b.in);
  out.bytes = type.bytes;
  out.count = b.in.has("v8") ? 8 : b.in.has("v4") ? 4 : b.in.has("v2") ? 2 : 1;
  const std::size_t first = returns ? 1 : 0;
  b.address(b.operand(first));
  const ptx::Operand& source = b.operand(first + 1);
  if (out.count > 1) {
    std::vector<std::int32_t> places;
    for (const ptx::Operand& part : source.parts) places.push_back(b.use(part, type));
    if (returns) {
      for (const ptx::Operand& part : b.operand(0).parts) places.push_back(b.def(part, type.bytes));
      out.dst = places.back();
    }
    out.extra = b.extra(places);
  } else {
    if (returns) out.dst = b.def(b.operand(0), type.bytes);
    out.b = b.use(source, type);
    if (b.in.has("cas")) out.c = b.use(b.operand(first + 2), type);
  }
  out.run = choose(b.in, type);
  if (out.run == nullptr) b.unsupported();
}

}  // namespace emulator
