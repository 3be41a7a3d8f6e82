// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// out[t] for 64 threads: thread t calls its own choice of four functions, from a table or by name.
void run_pointers(std::uint32_t* out);
// out[t]: fibonacci(t % 12) + ackermann(t % 3, t % 4), by recursion.
void run_recursion(std::uint32_t* out);
// Two functions that call each other `depth` times.
void run_mutual(std::uint32_t depth, std::uint32_t* out);
// Calls what is no function.
void run_wild_call(std::uint32_t* out);
