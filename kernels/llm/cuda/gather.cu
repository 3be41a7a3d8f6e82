// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/check.h"
#include "kernels/llm/cuda/launch.h"

namespace warpmeter {
namespace {

constexpr int threads = 128;

// blockIdx.x chooses the token, blockIdx.y a part of its row; each thread copies one Piece.
template <typename Piece>
__global__ void __launch_bounds__(threads)
    gather(const std::int32_t* __restrict__ ids, const Piece* __restrict__ table,
           Piece* __restrict__ y, std::int64_t row_pieces) {
  const std::int64_t at = std::int64_t{blockIdx.y} * threads + threadIdx.x;
  if (at >= row_pieces) return;
  const std::int64_t row = blockIdx.x;
  y[row * row_pieces + at] = table[ids[row] * row_pieces + at];
}

template <typename Piece>
void launch(const GatherShape& shape, const void* ids, const void* table, void* y,
            cudaStream_t stream) {
  const std::int64_t pieces =
      shape.columns * static_cast<std::int64_t>(bytes_of(shape.type)) / std::int64_t{sizeof(Piece)};
  const dim3 blocks(static_cast<unsigned>(shape.rows),
                    static_cast<unsigned>((pieces + threads - 1) / threads));
  gather<<<blocks, threads, 0, stream>>>(static_cast<const std::int32_t*>(ids),
                                         static_cast<const Piece*>(table), static_cast<Piece*>(y),
                                         pieces);
}

}  // namespace

void launch_gather(const GatherShape& shape, const void* ids, const void* table, void* y,
                   cudaStream_t stream) {
  const std::int64_t row_bytes = shape.columns * static_cast<std::int64_t>(bytes_of(shape.type));
  if (row_bytes % 16 == 0)
    launch<uint4>(shape, ids, table, y, stream);
  else if (row_bytes % 4 == 0)
    launch<std::uint32_t>(shape, ids, table, y, stream);
  else
    launch<std::uint16_t>(shape, ids, table, y, stream);
  GPU_CHECK(cudaGetLastError());
}

}  // namespace warpmeter
