// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

// Compiles the function for 512-bit, 256-bit and baseline vectors; the loader picks by CPUID. The
// attribute does not reach the bodies that OpenMP outlines, so parallel regions call such functions
// instead of holding the loop.
#define WARPMETER_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
