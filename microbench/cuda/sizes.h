// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/measurement.h"

namespace warpmeter {

// Sizes and limits that follow from the facts of a device. All pure.

// lo and hi and `per_octave` values per doubling between them, each rounded to a multiple of
// `quantum` (at least one), ascending, without repetition. B.
std::vector<double> log_spaced(double lo, double hi, int per_octave, double quantum);

// Data that L2 cannot hold: at least four times its size, and 1 GiB or a 64th of a memory below
// 64 GiB; a multiple of `quantum`. B.
double dram_footprint(const Device& device, double quantum);

// True if `footprint` lies so far beyond L2 that the memory serves it.
bool beyond_l2(const Device& device, double footprint);

// Two transfers per clock over the bus: 2 * memory.clock.max * memory.bus_width / 8, in B/s. Null
// if a fact is missing.
std::optional<double> dram_peak(const Device& device);

// 2 * lanes * SMs * clock.sm.max for f32 multiply-adds, in op/s; lanes per SM by compute
// capability.
std::optional<double> fma_peak(const Device& device, double sms);

// The same for dense bf16 tensor products with f32 sums. Null for parts without a published figure.
std::optional<double> mma_peak(const Device& device, double sms);

// A reason if `bytes` do not fit into the device (a tenth is left to others), else null.
std::optional<std::string> too_large(const Device& device, double bytes);

// The smallest count, from `start` up, for which seconds_of(count) is at least `floor_s`. Throws
// std::runtime_error if 2^30 do not suffice.
std::uint32_t scale_count(double floor_s, std::uint32_t start,
                          const std::function<double(std::uint32_t)>& seconds_of);

}  // namespace warpmeter
