// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>

// Kernels with mistakes, and close ones without; each is launched as one block of 64 threads.
constexpr int reads_all = 0,      // out[t] = in[t]
    reads_shared = 1,             // of which half is written
    reads_local = 2,              // an array of which half is written
    writes_then_reads_local = 3,  // all of it is written
    race_read = 4,                // the other warp's word without a barrier
    race_write = 5,               // overwrites what the other warp read, without a barrier
    with_barrier = 6,             // both of these, with barriers
    bytes_of_a_word = 7,          // each warp has its own
    shared_atomics = 8,           // of all threads to one word
    flag = 9,                     // a volatile flag orders the warps
    half_shuffles = 10,           // each half of a warp waits for the other, at different places
    foreign_lane = 11,            // a lane outside the mask
    async_race = 12,              // the other warp's copy by cp.async without a barrier
    writes_all = 13;              // out[t] = t
void run_checked(int which, std::uint32_t* in, std::uint32_t* out);
