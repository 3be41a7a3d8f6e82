// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// ld ldu st prefetch discard applypriority createpolicy.
#include <cstring>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"

namespace emulator {

ptx::Space access_space(const ptx::Instruction& in) {
  for (const std::string_view part : in.parts) {
    if (part == "global") return ptx::Space::global;
    if (part.starts_with("shared")) return ptx::Space::shared;
    if (part == "local") return ptx::Space::local;
    if (part == "const") return ptx::Space::constant;
    if (part.starts_with("param")) return ptx::Space::param;
  }
  return ptx::Space::generic;
}

namespace {

// T is what lies in memory, R what a register holds.
template <typename T, typename R>
void load(Warp& w, const Instr& i, std::uint32_t mask) {
  Pointers from;
  resolve(w, i, mask, from);
  if (i.count == 1) {
    std::byte* to = w.file + i.dst;
    for_lanes(mask, [&](int l) {
      T value;
      std::memcpy(&value, from[static_cast<std::size_t>(l)], sizeof value);
      lane_of<R>(to, l) = static_cast<R>(value);
    });
    return;
  }
  const std::int32_t* parts = &w.program().extra[i.extra];
  for_lanes(mask, [&](int l) {
    for (int n = 0; n < i.count; ++n) {
      T value;
      std::memcpy(&value,
                  from[static_cast<std::size_t>(l)] + static_cast<std::size_t>(n) * sizeof value,
                  sizeof value);
      lane_of<R>(w, parts[n], l) = static_cast<R>(value);
    }
  });
}

template <typename T, typename R>
void store(Warp& w, const Instr& i, std::uint32_t mask) {
  Pointers to;
  resolve(w, i, mask, to);
  const std::int32_t* parts = i.count == 1 ? &i.b : &w.program().extra[i.extra];
  for_lanes(mask, [&](int l) {
    for (int n = 0; n < i.count; ++n) {
      const T value = static_cast<T>(lane_of<R>(w, parts[n], l));
      std::memcpy(to[static_cast<std::size_t>(l)] + static_cast<std::size_t>(n) * sizeof value,
                  &value, sizeof value);
    }
  });
}

template <template <typename, typename> class Make>
Handler choose(ptx::Type type, bool wide) {
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  using I8 = std::int8_t;
  using I16 = std::int16_t;
  using I32 = std::int32_t;
  using I64 = std::int64_t;
  if (type.bytes == 16) return Make<U128, U128>::run;
  if (type.bytes == 8) return Make<U64, U64>::run;
  if (type.kind == ptx::Kind::signed_int) {
    if (type.bytes == 1) return wide ? Make<I8, I64>::run : Make<I8, I32>::run;
    if (type.bytes == 2) return wide ? Make<I16, I64>::run : Make<I16, I32>::run;
    return wide ? Make<I32, I64>::run : Make<I32, I32>::run;
  }
  if (type.bytes == 1) return wide ? Make<U8, U64>::run : Make<U8, U32>::run;
  if (type.bytes == 2) return wide ? Make<U16, U64>::run : Make<U16, U32>::run;
  return wide ? Make<U32, U64>::run : Make<U32, U32>::run;
}
template <typename T, typename R>
struct MakeLoad {
  static constexpr Handler run = load<T, R>;
};
template <typename T, typename R>
struct MakeStore {
  static constexpr Handler run = store<T, R>;
};

CacheOp cache_of(const ptx::Instruction& in) {
  if (in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("release") ||
      in.has("mmio")) {
    return CacheOp::volatile_;
  }
  if (in.has("cg")) return CacheOp::global;
  if (in.has("cs")) return CacheOp::streaming;
  if (in.has("lu")) return CacheOp::last_use;
  if (in.has("cv")) return CacheOp::volatile_;
  if (in.has("wt")) return CacheOp::write_through;
  return CacheOp::all;
}

void prefetch(Warp& w, const Instr& i, std::uint32_t mask) {
  Pointers pointers;
  resolve(w, i, mask, pointers);
}

void policy(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) { lane_of<std::uint64_t>(w, i.dst, l) = 0; });
}

void nothing(Warp&, const Instr&, std::uint32_t) {}

void decode_hint(Builder& b) {
  Instr& out = b.out;
  if (b.in.base() == "createpolicy") {  // the clock model knows no policies yet
    out.dst = b.def(b.operand(0), 8);
    out.run = policy;
    return;
  }
  if (b.in.has("tensormap")) {  // descriptors are not cached
    out.op_class = OpClass::move;
    out.run = nothing;
    return;
  }
  out.space = access_space(b.in);
  out.bytes = 1;
  out.op_class = OpClass::load;
  out.mode = 1;  // no destination
  out.cache = b.in.has("L1") ? CacheOp::all : CacheOp::global;
  b.address(b.operand(0));
  out.run = prefetch;
}

}  // namespace

void decode_memory(Builder& b) {
  const std::string_view base = b.in.base();
  if (base != "ld" && base != "ldu" && base != "st") return decode_hint(b);
  Instr& out = b.out;
  const bool is_load = base != "st";
  const ptx::Type type = b.in.type();
  out.space = access_space(b.in);
  out.bytes = type.bytes;
  out.cache = cache_of(b.in);
  out.count = b.in.has("v8") ? 8 : b.in.has("v4") ? 4 : b.in.has("v2") ? 2 : 1;
  const ptx::Operand& data = b.operand(is_load ? 0 : 1);
  b.address(b.operand(is_load ? 1 : 0));
  out.op_class = out.space == ptx::Space::param ? OpClass::param
                 : is_load                      ? OpClass::load
                                                : OpClass::store;
  const ptx::Operand& first = out.count > 1 ? data.parts.at(0) : data;
  bool wide = b.wide(first);
  if (out.count > 1) {
    std::vector<std::int32_t> places;
    for (const ptx::Operand& part : data.parts) {
      wide = wide || b.wide(part);
      places.push_back(is_load ? b.def(part, type.bytes) : b.use(part, type));
    }
    if (places.size() != out.count) b.unsupported("vector size");
    out.extra = b.extra(places);
  } else if (is_load) {
    out.dst = b.def(data, type.bytes);
  } else {
    out.b = b.use(data, type);
  }
  out.run = is_load ? choose<MakeLoad>(type, wide) : choose<MakeStore>(type, wide);
}

}  // namespace emulator
