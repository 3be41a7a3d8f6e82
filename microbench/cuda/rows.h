// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "core/benchmark.h"

namespace warpmeter {

// The rows of table.h, by the file that defines them.
Benchmark latency_chase_row();
Benchmark latency_sparse_row();
Benchmark latency_pair_row();
Benchmark latency_line_row();
Benchmark latency_peer_row();
Benchmark bandwidth_read_row();
Benchmark bandwidth_write_row();
Benchmark bandwidth_copy_row();
Benchmark latency_fma_row();
Benchmark throughput_fma_row();
Benchmark throughput_mma_row();
Benchmark clock_core_row();
Benchmark transfer_time_row();
Benchmark launch_stream_row();
Benchmark launch_graph_row();
Benchmark launch_first_row();

}  // namespace warpmeter
