// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Compiled to a fat binary and embedded as data by kernels/CMakeLists.txt.
extern "C" __global__ void first_launch() {}
