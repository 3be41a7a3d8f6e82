// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cp.async: copies from global to shared memory that a warp waits for later.
#include "emulator/decode/decoder.h"

namespace emulator {

void decode_async(Builder& b) { b.unsupported(); }

}  // namespace emulator
