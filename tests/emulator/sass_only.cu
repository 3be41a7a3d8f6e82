// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
namespace {
__global__ void kernel(int* out) { *out = 1; }
}  // namespace
void run_sass_only(int* out) { kernel<<<1, 1>>>(out); }
