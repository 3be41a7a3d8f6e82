// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace warpmeter {

// A kernel that does nothing: what is left is the cost of launching it.
void launch_empty(cudaStream_t stream);
const void* empty_kernel();

// The same kernel, named "first_launch", as a fat binary of its own, so that a program can load it
// as often as it likes with cudaLibraryLoadData. Machine code for common GPUs, so that no
// compilation is timed.
extern const unsigned char* const first_launch_image;

}  // namespace warpmeter
