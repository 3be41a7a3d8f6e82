// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void run_neighbours(std::uint32_t* out, int blocks);  // 64 threads, clusters of 4
const void* neighbours_kernel();
void run_bulk(std::uint32_t* out, const std::uint32_t* in);  // out: sum of 4 rows of 256
void run_multicast(std::uint32_t* out, const std::uint32_t* in, int blocks);  // rows of 64
