// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Compiled with a default stream per thread.
#include "tests/emulator/streams.h"

#include <thread>

#include "tests/emulator/managed.h"

namespace {

using U32 = std::uint32_t;

// In one stream for all the second kernel would never start.
TEST(PerThread, DefaultStreamsAreIndependent) {
  Managed<U32> words(2);
  words[0] = words[1] = 0;
  std::thread([&] { run_wait(&words[0], &words[1]); }).join();
  std::thread([&] { run_signal(&words[0]); }).join();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(words[1], 7u);
}

TEST(PerThread, CopiesFollowTheThreadsKernels) {
  Managed<U32> x(1);
  x[0] = 5;
  run_linear(x.get(), 3, 1, nullptr);
  U32 seen = 0;
  ASSERT_EQ(cudaMemcpy(&seen, x.get(), 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(seen, 16u);
  ASSERT_EQ(cudaMemset(x.get(), 0, 4), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(x[0], 0u);
}

cudaGraph_t captured(U32* x, U32 factor, U32 addend, cudaGraphExec_t inner, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  run_linear(x, factor, addend, stream);
  if (inner != nullptr) {
    EXPECT_EQ(cudaGraphLaunch(inner, stream), cudaSuccess);
    run_linear(x, factor, addend, stream);
  }
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  return graph;
}

TEST(ChildGraphs, RunInTheirPlace) {
  Managed<U32> x(1);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const cudaGraph_t child = captured(x.get(), 10, 3, nullptr, stream);
  cudaGraphExec_t inner = nullptr, outer = nullptr, added = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&inner, child, 0), cudaSuccess);
  const cudaGraph_t parent = captured(x.get(), 2, 1, inner, stream);
  std::size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(parent, nullptr, &count), cudaSuccess);
  ASSERT_EQ(count, 3u);
  cudaGraphNode_t nodes[3] = {};
  ASSERT_EQ(cudaGraphGetNodes(parent, nodes, &count), cudaSuccess);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  ASSERT_EQ(cudaGraphNodeGetType(nodes[1], &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeGraph);
  ASSERT_EQ(cudaGraphInstantiate(&outer, parent, 0), cudaSuccess);
  x[0] = 4;
  ASSERT_EQ(cudaGraphLaunch(outer, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(x[0], ((4u * 2 + 1) * 10 + 3) * 2 + 1);
  // A second copy of the child behind all of it.
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, parent, &nodes[2], 1, child), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, parent), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphInstantiate(&added, parent, 0), cudaSuccess);
  x[0] = 1;
  ASSERT_EQ(cudaGraphLaunch(added, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(x[0], (((1u * 2 + 1) * 10 + 3) * 2 + 1) * 10 + 3);
}

TEST(Compressed, FatBinariesAreRead) {
  Managed<U32> out(64);
  for (const auto run : {run_lz4, run_zstd}) {
    for (U32 i = 0; i < 64; ++i) out[i] = 0;
    run(out.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (U32 i = 0; i < 64; ++i) ASSERT_EQ(out[i], i * i);
  }
}

}  // namespace
