// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// Which caches a global load may hit: ca is ld.global.ca (L1, then L2), cg is ld.global.cg (L2
// only).
enum class LoadPath { ca, cg };

}  // namespace warpmeter
