// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// How CUDA's numbers are written, whichever library they come from.
#pragma once

#include <span>
#include <string>

namespace warpmeter {

// "13.0" of 13000.
std::string cuda_version_text(int version);

// "GPU-01234567-89ab-..." of the prefix GPU (or MIG, of an instance) and the UUID's bytes.
std::string cuda_uuid_text(const char* prefix, std::span<const unsigned char, 16> uuid);

}  // namespace warpmeter
