// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "calibrator/draft.h"
#include "core/device.h"

namespace warpmeter {

// Each fills its parameters of docs/quantities.md from the measurements of `run`, with a reason
// where there is no value.

// bandwidth.<level>.<read, write, copy, triad>.<core, device>. Needs the latency parameters: where
// the facts do not say a level's size, its knees do.
void calibrate_bandwidth(const Run& run, DeviceKind kind, Draft& draft);

// line.<l1, l2>, sector.<l1, l2>, latency.l2.hit.<nearest, farthest>_pair of a GPU. Needs the
// latency parameters.
void calibrate_geometry(const Run& run, Draft& draft);

// bandwidth.dram.saturated.core, latency.dram.in_flight, concurrency.dram.core.
void calibrate_saturation(const Run& run, Draft& draft);

// transfer.<h2d, d2h, p2p>.bandwidth and .latency.
void calibrate_transfer(const Run& run, Draft& draft);

// throughput.*, latency.fma.*, latency.dram.loaded, latency.core_to_core, launch.*, clock.*: a
// measurement's value and interval as they are.
void calibrate_scalars(const Run& run, DeviceKind kind, Draft& draft);

// The measured curves: latency and bandwidth against footprint, bandwidth against bytes in flight,
// loaded latency against load, transfer time against size. Usable points only.
void add_curves(const Run& run, Draft& draft);

// Parameters of the list for this kind of device that nothing filled: not measured, with a reason.
void add_missing(DeviceKind kind, Draft& draft);

}  // namespace warpmeter
