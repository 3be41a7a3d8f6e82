// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

namespace sqlite {
class Connection;
}

// Adds to `counters`, from the PM samples and the timeline in the database `main` of the
// connection, what a launch of each shape is worth on each device in each sampled metric: source
// `pm`, scope `device`, `shape_id` instead of a kernel, null with the reason where the samples do
// not say. Such rows that are there already, of devices with samples, are replaced. Copies and sets
// count as what may run beside a kernel. `meta` gets `pm_attribution`. Times must be of one clock.
// Method: docs/pm_sampling.md. Throws sqlite::Error.
void attribute_samples(sqlite::Connection& connection);

}  // namespace warpmeter
