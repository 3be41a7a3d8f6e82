// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

namespace sqlite {
class Connection;
}

// Fills range_id of api, kernels, copies and sets, and capture_range_id of kernels, in the database
// `main` of the connection: the innermost push/pop range, over all domains, that the thread of the
// call (of the capture) had open at its start. Kernels, copies and sets follow the call with their
// correlation. Values that are there already stay. Times of a process must be of one clock.
// Throws sqlite::Error.
void attribute_ranges(sqlite::Connection& connection);

}  // namespace warpmeter
