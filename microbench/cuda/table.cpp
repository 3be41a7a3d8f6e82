// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/table.h"

#include "microbench/cuda/rows.h"

namespace warpmeter {

std::vector<Benchmark> cuda_benchmarks() {
  return {latency_chase_row(), latency_sparse_row(), latency_pair_row(),    latency_line_row(),
          latency_peer_row(),  bandwidth_read_row(), bandwidth_write_row(), bandwidth_copy_row(),
          latency_fma_row(),   throughput_fma_row(), throughput_mma_row(),  clock_core_row(),
          transfer_time_row(), launch_stream_row(),  launch_graph_row(),    launch_first_row()};
}

}  // namespace warpmeter
