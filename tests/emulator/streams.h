// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// *x = *x * factor + addend
void run_linear(std::uint32_t* x, std::uint32_t factor, std::uint32_t addend, cudaStream_t stream);
// Waits until *flag is not 0, or sets it. In the default stream of the thread.
void run_wait(const volatile std::uint32_t* flag, std::uint32_t* seen);
void run_signal(std::uint32_t* flag);
// Kernels from a fat binary that is compressed with LZ4, with zstd.
void run_lz4(std::uint32_t* out);
void run_zstd(std::uint32_t* out);
