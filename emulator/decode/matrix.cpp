// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// mma ldmatrix stmatrix movmatrix.
#include "emulator/decode/decoder.h"

namespace emulator {

void decode_matrix(Builder& b) { b.unsupported(); }

}  // namespace emulator
