// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "calibrator/draft.h"
#include "core/device.h"

namespace warpmeter {

// Fills a machine from published numbers: records whose quantity is a parameter's name are taken as
// they are; curves (latency.chase, bandwidth.*, bandwidth.in_flight, transfer.time), one per
// `source` parameter, go through the same estimators as measured ones. Several values of one
// parameter give their median, with the range as interval: published conditions differ, so that
// this is no confidence interval, and the reason says so. Values in another unit than most are
// named and left out. Nothing is extrapolated from one parameter to another.
void calibrate_published(const Run& run, DeviceKind kind, Draft& draft);

}  // namespace warpmeter
