// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/arithmetic.h"
#include "tests/emulator/kernels.h"

namespace {

__global__ void integers(const std::uint64_t* in, std::uint64_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int which = 0; which < integer_cases; ++which) {
    out[which * n + i] = integer_case(which, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
  }
}

__global__ void floats(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int which = 0; which < float_cases; ++which) {
    out[which * n + i] = float_case(which, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
  }
}

// mode 0: half to float; 1: float to half; 2: bf16 to float; 3: float to bf16; 4: float to e4m3
// pair.
__global__ void conversions(const std::uint32_t* in, std::uint32_t* out, int n, int mode) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint32_t r = 0;
  if (mode == 0) {
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=r"(r) : "r"(in[i]));
  } else if (mode == 1) {
    asm("{.reg .b16 h; .reg .f32 f; mov.b32 f, %1; cvt.rn.f16.f32 h, f; cvt.u32.u16 %0, h;}"
        : "=r"(r)
        : "r"(in[i]));
  } else if (mode == 2) {
    asm("{.reg .b16 h, z; mov.b16 z, 0; cvt.u16.u32 h, %1; mov.b32 %0, {z, h};}"
        : "=r"(r)
        : "r"(in[i]));
  } else if (mode == 3) {
    asm("{.reg .b16 h; .reg .f32 f; mov.b32 f, %1; cvt.rn.bf16.f32 h, f; cvt.u32.u16 %0, h;}"
        : "=r"(r)
        : "r"(in[i]));
  } else if (mode == 4) {
    asm("{.reg .b16 h; .reg .f32 f; mov.b32 f, %1; cvt.rz.f16.f32 h, f; cvt.u32.u16 %0, h;}"
        : "=r"(r)
        : "r"(in[i]));
  }
  out[i] = r;
}

// Packed halves: low and high are independent.
__global__ void pairs(const std::uint32_t* in, std::uint32_t* out, int n, int mode) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint32_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  std::uint32_t r = 0;
  if (mode == 0) asm("add.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  if (mode == 1) asm("mul.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  if (mode == 2) asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  if (mode == 3) asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  out[i] = r;
}

}  // namespace

void run_integers(const std::uint64_t* in, std::uint64_t* out, int n) {
  integers<<<(n + 127) / 128, 128>>>(in, out, n);
}
void run_floats(const float* in, float* out, int n) {
  floats<<<(n + 127) / 128, 128>>>(in, out, n);
}
void run_conversions(const std::uint32_t* in, std::uint32_t* out, int n, int mode) {
  conversions<<<(n + 255) / 256, 256>>>(in, out, n, mode);
}
void run_pairs(const std::uint32_t* in, std::uint32_t* out, int n, int mode) {
  pairs<<<(n + 255) / 256, 256>>>(in, out, n, mode);
}
