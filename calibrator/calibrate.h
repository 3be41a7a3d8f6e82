// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <span>

#include "core/device.h"
#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// Machine parameters from runs: every parameter that docs/quantities.md lists for the kind of
// device appears, with value, 90 % interval, method and evidence, or with the reason why there is
// none. Unstable measurements are used and said; those with other unusable verdicts never: the
// reason of what lacks them names them. The same measurement in several runs is pooled: its
// campaigns count together. How each number is obtained: docs/methodology.md.
//
// Throws InputError if there is no run, or if the runs differ in device or source: measured,
// emulated and published numbers are never mixed.
//
// `tool` and each input's `file` are left to the caller, who knows them.
Machine calibrate(std::span<const Run> runs);

DeviceKind device_kind(const Run& run);

}  // namespace warpmeter
