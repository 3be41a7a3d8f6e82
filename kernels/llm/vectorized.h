// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

// Compiles the function for AVX-512, AVX2 with FMA, and baseline vectors; the loader picks by
// CPUID. The attribute does not reach the bodies that OpenMP outlines, so parallel regions call
// such functions instead of holding the loop.
#define WARPMETER_VECTORIZED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
