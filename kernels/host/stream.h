// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpmeter {

// Streaming loops over arrays of `count` doubles, with the widest vectors of this CPU. Arrays are
// aligned to 64 bytes and do not overlap; any count is allowed, the tail is scalar. Each passes
// over its arrays `passes` times in one call, so that a call costs nothing beside a pass over a
// small array; the bytes below are those of one pass.

// Bytes read: 8 count. Returns the sum over all passes of the elements' bit patterns modulo 2^64:
// exact in any order, and cheaper than the loads that it keeps alive.
std::uint64_t stream_read(const double* from, std::size_t count, std::size_t passes = 1);

// Bytes written: 8 count.
void stream_write(double* to, double value, std::size_t count, std::size_t passes = 1);
// The same with non-temporal stores, which bypass the caches and read no line before writing it.
void stream_write_nt(double* to, double value, std::size_t count, std::size_t passes = 1);

// Bytes: 8 count read, 8 count written.
void stream_copy(double* to, const double* from, std::size_t count, std::size_t passes = 1);
void stream_copy_nt(double* to, const double* from, std::size_t count, std::size_t passes = 1);

// to = left + scale * right. Bytes: 16 count read, 8 count written.
void stream_triad(double* to, const double* left, const double* right, double scale,
                  std::size_t count, std::size_t passes = 1);

}  // namespace warpmeter
