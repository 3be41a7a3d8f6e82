// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What runs at the same time on one device, and what waits, in closed form.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/emulator/patterns.h"
#include "tests/emulator/timing.h"

namespace {

constexpr std::size_t bytes = std::size_t{16} << 20;

class Overlap : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), 4 * bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host_), 2 * bytes), cudaSuccess);
  }
  ~Overlap() override {
    (void)cudaFree(device_);
    (void)cudaFreeHost(host_);
  }
  void upload(const TimedStream& stream) {
    EXPECT_EQ(cudaMemcpyAsync(device_, host_, bytes, cudaMemcpyHostToDevice, stream.get()),
              cudaSuccess);
  }
  void download(const TimedStream& stream) {
    EXPECT_EQ(cudaMemcpyAsync(host_ + bytes, device_ + bytes, bytes, cudaMemcpyDeviceToHost,
                              stream.get()),
              cudaSuccess);
  }
  void spin(cudaStream_t stream, double seconds) {
    run_pattern(Pattern::spin, 1, static_cast<std::size_t>(seconds * planted("/sm/hz")),
                device_ + 2 * bytes, stream);
  }
  void fma(const TimedStream& stream, int blocks) {
    run_pattern(Pattern::fma, blocks, 256, device_ + 3 * bytes, stream.get());
  }
  static double link_s() {
    return static_cast<double>(bytes) / planted("/host_link/bytes_per_second");
  }
  static void expect_time(TimedStream& stream, double seconds) {
    EXPECT_NEAR(stream.seconds(), seconds, 0.01 * seconds + overheads_s);
  }

  char* device_ = nullptr;
  char* host_ = nullptr;
};

TEST_F(Overlap, CopiesOfOneDirectionFollowEachOther) {
  TimedStream a, b;
  a.start();
  b.start_behind(a);
  upload(a);
  upload(b);
  a.join(b);
  a.stop();
  expect_time(a, 2 * link_s());
}

TEST_F(Overlap, CopiesOfBothDirectionsNeedAnEngineEach) {
  TimedStream a, b;
  a.start();
  b.start_behind(a);
  upload(a);
  download(b);
  a.join(b);
  a.stop();
  expect_time(a, planted("/host_link/copy_engines") > 1 ? link_s() : 2 * link_s());
}

TEST_F(Overlap, ACopyAndAKernel) {
  TimedStream a, b;
  a.start();
  b.start_behind(a);
  upload(a);
  spin(b.get(), 2 * link_s());
  a.join(b);
  a.stop();
  expect_time(a, 2 * link_s());
}

TEST_F(Overlap, WorkOfOneStreamIsInOrder) {
  TimedStream a;
  a.start();
  upload(a);
  spin(a.get(), link_s());
  download(a);
  a.stop();
  expect_time(a, 3 * link_s());
}

TEST_F(Overlap, SmallKernelsShareTheDevice) {
  TimedStream a, b;
  a.start();
  b.start_behind(a);
  spin(a.get(), 1e-3);
  spin(b.get(), 1e-3);
  a.join(b);
  a.stop();
  expect_time(a, 1e-3);
}

// 1024 threads on each SM keep its multiply-add pipes busy: a warp each `interval` cycles.
TEST_F(Overlap, KernelsOnOneSmShareItsPipes) {
  const int sms = static_cast<int>(planted("/sm/count"));
  const double alone = 256.0 * 64 * 8 * planted("/instructions/fp32/interval") / planted("/sm/hz");
  TimedStream a, b;
  a.start();
  fma(a, sms);
  a.stop();
  expect_time(a, alone);
  a.start();
  b.start_behind(a);
  fma(a, sms);
  fma(b, sms);
  a.join(b);
  a.stop();
  expect_time(a, 2 * alone);
}

// Blocks that find no room wait for those of the earlier kernel.
TEST_F(Overlap, ALaterKernelWaitsForRoom) {
  const int sms = static_cast<int>(planted("/sm/count"));
  const int per_sm = static_cast<int>(planted("/sm/threads")) / 1024;
  const double wave =
      256.0 * 64 * 8 * per_sm * planted("/instructions/fp32/interval") / planted("/sm/hz");
  TimedStream a, b;
  a.start();
  b.start_behind(a);
  fma(a, sms * per_sm);
  spin(b.get(), 1e-3);
  a.join(b);
  a.stop();
  expect_time(a, wave + 1e-3);
}

TEST_F(Overlap, TheLegacyStreamWaitsForBlockingStreams) {
  TimedStream a(cudaStreamDefault), b(cudaStreamDefault);
  a.start();
  spin(a.get(), 1e-3);
  spin(nullptr, 1e-3);
  spin(b.get(), 1e-3);
  a.join(b);
  a.stop();
  expect_time(a, 3e-3);
}

TEST_F(Overlap, TheLegacyStreamDoesNotWaitForOthers) {
  TimedStream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  a.start();
  b.start_behind(a);
  spin(a.get(), 1e-3);
  spin(nullptr, 1e-3);
  spin(b.get(), 1e-3);
  a.join(b);
  a.stop();
  expect_time(a, 1e-3);
}

TEST_F(Overlap, BlockingStreamsDoNotWaitForEachOther) {
  TimedStream a(cudaStreamDefault), b(cudaStreamDefault);
  a.start();
  b.start_behind(a);
  spin(a.get(), 1e-3);
  spin(b.get(), 1e-3);
  a.join(b);
  a.stop();
  expect_time(a, 1e-3);
}

// A graph of two branches, launched: they overlap; a chain does not.
TEST_F(Overlap, BranchesOfAGraph) {
  TimedStream a, b;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaEvent_t fork = nullptr, joined = nullptr;
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&joined), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(a.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  spin(a.get(), 1e-3);
  ASSERT_EQ(cudaEventRecord(fork, a.get()), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(b.get(), fork, 0), cudaSuccess);
  spin(a.get(), 1e-3);
  spin(b.get(), 2e-3);
  ASSERT_EQ(cudaEventRecord(joined, b.get()), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(a.get(), joined, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(a.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  a.start();
  ASSERT_EQ(cudaGraphLaunch(exec, a.get()), cudaSuccess);
  a.stop();
  expect_time(a, 3e-3);
}

// From the end of one kernel to the begin of the next in its stream.
TEST_F(Overlap, TheGapBetweenKernels) {
  constexpr int count = 200;
  TimedStream a;
  spin(a.get(), 1e-3);  // until all is queued
  a.start();
  for (int i = 0; i < count; ++i) spin(a.get(), 1e-6);
  a.stop();
  const double each = 1e-6 + 1e-9 * planted("/overhead/dependent_ns");
  // Beginning and storing take a kernel less than 0.3 us.
  EXPECT_NEAR(a.seconds() / count, each + 0.15e-6, 0.15e-6);
}

}  // namespace
