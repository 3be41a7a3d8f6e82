// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// 16 blocks of 96 threads diverge, spin and race for places in `out`, of 8192 words; the first is
// the number taken.
void run_race(std::uint32_t* out, cudaStream_t stream);
