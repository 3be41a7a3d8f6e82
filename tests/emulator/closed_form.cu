// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/closed_form.h"

namespace {

__device__ __forceinline__ std::uint64_t now() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// Holds the warp until `value` is there.
__device__ __forceinline__ void wait_for(std::uint32_t value) {
  __shared__ volatile std::uint32_t sink;
  sink = value;
}

template <TimedOp op>
struct Value {
  using type = std::uint32_t;
};
template <>
struct Value<TimedOp::fp32> {
  using type = float;
};
template <>
struct Value<TimedOp::special_function> {
  using type = float;
};
template <>
struct Value<TimedOp::convert> {
  using type = float;
};
template <>
struct Value<TimedOp::fp64> {
  using type = double;
};

template <TimedOp op>
__device__ __forceinline__ void step(typename Value<op>::type& x) {
  if constexpr (op == TimedOp::alu) asm volatile("xor.b32 %0, %0, 5;" : "+r"(x));
  if constexpr (op == TimedOp::imad) asm volatile("mad.lo.u32 %0, %0, 3, 7;" : "+r"(x));
  if constexpr (op == TimedOp::fp32) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  if constexpr (op == TimedOp::fp64) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(x));
  if constexpr (op == TimedOp::special_function) asm volatile("ex2.approx.f32 %0, %0;" : "+f"(x));
  if constexpr (op == TimedOp::convert) asm volatile("cvt.rzi.f32.f32 %0, %0;" : "+f"(x));
}

template <TimedOp op, int chains>
__global__ void ops(int steps, std::uint64_t* cycles) {
  typename Value<op>::type x[chains];
#pragma unroll
  for (int j = 0; j < chains; ++j) x[j] = static_cast<typename Value<op>::type>(threadIdx.x + j);
  std::uint32_t last = 0;
  for (int j = 0; j < chains; ++j) last += static_cast<std::uint32_t>(x[j]);
  wait_for(last);
  const std::uint64_t begin = now();
#pragma unroll 1
  for (int i = 0; i < steps; i += 512) {
#pragma unroll
    for (int j = 0; j < 512; ++j) step<op>(x[j % chains]);
  }
#pragma unroll
  for (int j = 0; j < chains; ++j) wait_for(static_cast<std::uint32_t>(x[j]));
  cycles[0] = now() - begin;
}

template <int chains>
void launch(TimedOp op, int steps, std::uint64_t* cycles) {
  switch (op) {
    case TimedOp::alu:
      return ops<TimedOp::alu, chains><<<1, 32>>>(steps, cycles);
    case TimedOp::imad:
      return ops<TimedOp::imad, chains><<<1, 32>>>(steps, cycles);
    case TimedOp::fp32:
      return ops<TimedOp::fp32, chains><<<1, 32>>>(steps, cycles);
    case TimedOp::fp64:
      return ops<TimedOp::fp64, chains><<<1, 32>>>(steps, cycles);
    case TimedOp::special_function:
      return ops<TimedOp::special_function, chains><<<1, 32>>>(steps, cycles);
    case TimedOp::convert:
      return ops<TimedOp::convert, chains><<<1, 32>>>(steps, cycles);
  }
}

__global__ void conflicts(int stride, int hops, std::uint64_t* cycles) {
  __shared__ std::uint32_t words[32 * 33];
  std::uint32_t at =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(words + threadIdx.x * stride));
  words[threadIdx.x * stride] = at;
  __syncthreads();
  wait_for(at);
  const std::uint64_t begin = now();
#pragma unroll 1
  for (int i = 0; i < hops; i += 128) {
#pragma unroll
    for (int j = 0; j < 128; ++j) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
  }
  wait_for(at);
  cycles[0] = now() - begin;
}

__global__ void line_latencies(int sm, const char* lines, int count, std::size_t stride,
                               std::uint32_t* cycles, std::uint32_t* claim) {
  int here;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  if (here != sm || atomicExch(claim, 1u) != 0) return;
  std::uint32_t value = 0;
  wait_for(value);
  const std::uint64_t begin = now();
  wait_for(value);
  const std::uint64_t nothing = now() - begin;
  for (int pass = 0; pass < 2; ++pass) {  // the first brings the lines to L2
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const char* at = lines + i * stride;
      wait_for(static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(at)));
      const std::uint64_t before = now();
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
      wait_for(value);
      cycles[i] = static_cast<std::uint32_t>(now() - before - nothing);
    }
  }
}

}  // namespace

void run_op_chain(TimedOp op, int steps, std::uint64_t* cycles) { launch<1>(op, steps, cycles); }
void run_op_chains(TimedOp op, int steps, std::uint64_t* cycles) { launch<8>(op, steps, cycles); }
void run_conflicts(int stride, int hops, std::uint64_t* cycles) {
  conflicts<<<1, 32>>>(stride, hops, cycles);
}
void run_line_latencies(int sm, int blocks, const char* lines, int count, std::size_t stride,
                        std::uint32_t* cycles, std::uint32_t* claim) {
  line_latencies<<<blocks, 1>>>(sm, lines, count, stride, cycles, claim);
}
