// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cstddef>

#include "kernels/micro/empty.h"
#include "kernels/micro/first_launch_bytes.h"

namespace warpmeter {

extern const unsigned char* const first_launch_image;
const unsigned char* const first_launch_image =
    reinterpret_cast<const unsigned char*>(first_launch_bytes);

}  // namespace warpmeter
