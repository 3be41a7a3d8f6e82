// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Two devices and the link between them, on the chip duo.
#include <cstring>
#include <memory>
#include <vector>

#include "tests/emulator/kernels.h"
#include "tests/emulator/patterns.h"
#include "tests/emulator/timing.h"

namespace {

constexpr std::size_t bytes = std::size_t{8} << 20;

// `bytes` of memory on each device, and a stream there.
class Peers : public testing::Test {
 protected:
  void SetUp() override {
    for (int d = 0; d < 2; ++d) {
      ASSERT_EQ(cudaSetDevice(d), cudaSuccess);
      ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_[d]), bytes), cudaSuccess);
      stream_[d] = std::make_unique<TimedStream>();
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  void enable() {
    for (int d = 0; d < 2; ++d) {
      ASSERT_EQ(cudaSetDevice(d), cudaSuccess);
      ASSERT_EQ(cudaDeviceEnablePeerAccess(1 - d, 0), cudaSuccess);
    }
  }
  // Queues a pattern on `device` over memory of the other one.
  void start(int device, Pattern pattern) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    stream_[device]->start();
    run_pattern(pattern, 16, bytes, data_[1 - device], stream_[device]->get());
    stream_[device]->stop();
  }
  void start_copy(int device, int from, int to) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    stream_[device]->start();
    ASSERT_EQ(cudaMemcpyPeerAsync(data_[to], to, data_[from], from, bytes, stream_[device]->get()),
              cudaSuccess);
    stream_[device]->stop();
  }
  double link_s() const {
    return static_cast<double>(bytes) / planted("/peer_link/bytes_per_second");
  }

  char* data_[2] = {};
  std::unique_ptr<TimedStream> stream_[2];
};

TEST_F(Peers, AccessErrors) {
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 0), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(data_[0], 0, data_[1], 2, 4), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemcpyPeer(data_[0], -1, data_[1], 1, 4), cudaErrorInvalidDevice);
}

TEST_F(Peers, AKernelNeedsAccess) {
  start(0, Pattern::stream_read);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST_F(Peers, AKernelLosesAccess) {
  enable();
  start(0, Pattern::stream_read);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  start(0, Pattern::stream_read);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST_F(Peers, CopiesMoveTheBytes) {
  std::vector<char> there(bytes);
  std::vector<char> back(bytes);
  for (std::size_t i = 0; i < bytes; ++i) there[i] = static_cast<char>(i * 7 + i / 999);
  for (const bool with_access : {false, true}) {
    if (with_access) enable();
    ASSERT_EQ(cudaMemset(data_[1], 0, bytes), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(data_[0], there.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaMemcpyPeer(data_[1], 1, data_[0], 0, bytes), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(back.data(), data_[1], bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(there, back);
  }
}

TEST_F(Peers, CopiesTakeTheLinkOrTheHost) {
  const double latency = 1e-9 * planted("/host_link/copy_latency_ns");
  start_copy(0, 0, 1);
  const double staged = static_cast<double>(bytes) / planted("/host_link/bytes_per_second");
  EXPECT_NEAR(stream_[0]->seconds(), 2 * latency + staged, 2e-6);
  enable();
  start_copy(0, 0, 1);
  EXPECT_NEAR(stream_[0]->seconds(), latency + link_s(), 2e-6);
  start_copy(0, 0, 1);
  start_copy(1, 1, 0);
  EXPECT_NEAR(stream_[0]->seconds(), latency + link_s(), 2e-6);
  EXPECT_NEAR(stream_[1]->seconds(), latency + link_s(), 2e-6);
}

TEST_F(Peers, ALoadTakesTheLinksLatency) {
  enable();
  std::vector<char*> ring(1024);
  for (std::size_t i = 0; i < 64; ++i) ring[16 * i] = data_[1] + 128 * ((i + 29) % 64);
  ASSERT_EQ(cudaMemcpy(data_[1], ring.data(), 8192, cudaMemcpyDefault), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  std::uint64_t cycles[2] = {};
  auto* out = reinterpret_cast<std::uint64_t*>(data_[0]);
  run_chase(chase_cg, data_[1], 64, out);
  ASSERT_EQ(cudaMemcpy(cycles, out, sizeof cycles, cudaMemcpyDefault), cudaSuccess);
  for (const std::uint64_t pass : cycles) {
    EXPECT_NEAR(static_cast<double>(pass) / 64, planted("/peer_link/latency"), 2);
  }
}

TEST_F(Peers, KernelsReachTheLinksRate) {
  enable();
  for (const Pattern pattern : {Pattern::stream_read, Pattern::stream_write}) {
    start(0, pattern);
    EXPECT_NEAR(stream_[0]->seconds(), link_s(), 0.02 * link_s() + overheads_s);
  }
  std::vector<std::uint32_t> words(bytes / 4);
  ASSERT_EQ(cudaMemcpy(words.data(), data_[1], bytes, cudaMemcpyDefault), cudaSuccess);
  for (std::size_t i = 0; i < words.size(); i += 4) {
    ASSERT_EQ(words[i], i / 4 % 2048 / 512);
    ASSERT_EQ(words[i + 1], i / 4 % 512);
  }
}

TEST_F(Peers, EachDirectionHasItsWire) {
  enable();
  const double tolerance = 0.02 * link_s() + overheads_s;
  start(0, Pattern::stream_read);
  start(1, Pattern::stream_read);
  EXPECT_NEAR(stream_[0]->seconds(), link_s(), tolerance);
  EXPECT_NEAR(stream_[1]->seconds(), link_s(), tolerance);
  // What 0 reads of 1 and what 1 writes to 0 move the same way.
  start(0, Pattern::stream_read);
  start(1, Pattern::stream_write);
  EXPECT_NEAR(std::max(stream_[0]->seconds(), stream_[1]->seconds()), 2 * link_s(), 2 * tolerance);
}

}  // namespace
