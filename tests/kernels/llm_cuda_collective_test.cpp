// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The all-reduce on two emulated GPUs: edges, barriers, counters, and the case against the link.
#include <chrono>
#include <thread>

#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/instruments.h"
#include "kernels/llm/cuda/collective_case.h"
#include "kernels/llm/cuda/collective_table.h"
#include "kernels/llm/cuda/table.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class Ranks : public OnEmulatedGpu {
 protected:
  explicit Ranks(int devices) : devices_(devices) {}

  void SetUp() override {
    OnEmulatedGpu::SetUp();
    int devices = 0;
    GPU_CHECK(cudaGetDeviceCount(&devices));
    ASSERT_EQ(devices, devices_) << "the chip's devices";
    for (int rank = 0; rank < devices; ++rank) {
      const DeviceGuard guard(rank);
      streams_.push_back(make_stream());
      preload_instruments();
    }
  }

  CollectiveKernel kernel(const AllReduceShape& shape) const {
    std::vector<int> ordinals;
    std::vector<cudaStream_t> streams;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      ordinals.push_back(rank);
      streams.push_back(streams_[static_cast<std::size_t>(rank)].get());
    }
    return {all_reduce_problem(shape, 3), all_reduce_launch(shape), ordinals, streams};
  }

  void expect_right(const AllReduceShape& shape) {
    SCOPED_TRACE(testing::Message()
                 << shape.ranks << " x " << shape.count << " " << to_string(shape.type));
    CollectiveKernel all_reduce = kernel(shape);
    all_reduce.enqueue();
    EXPECT_NO_THROW(all_reduce.verify());
  }

  // Keeps a rank's stream busy for `cycles`.
  void occupy(int rank, const Stream& stream, std::uint64_t cycles) {
    const DeviceGuard guard(rank);
    stamps_.emplace_back(sizeof(Stamp));
    launch_busy({stamps_.back().as<Stamp>(), cycles}, 1, 32, stream.get());
  }

  std::vector<Stream> streams_;

 private:
  int devices_;
  std::vector<DeviceBuffer> stamps_;
};

class AllReduce : public Ranks {
 protected:
  AllReduce() : Ranks(2) {}

  bool rank_0_runs() {
    const cudaError_t status = cudaStreamQuery(streams_[0].get());
    (void)cudaGetLastError();
    return status == cudaErrorNotReady;
  }

  // What rank 0 has signalled to block 0 of rank 1, a while after now.
  std::uint32_t reached_by_rank_0(const CollectiveKernel& all_reduce) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    (void)rank_0_runs();
    std::uint32_t epoch = 0;
    GPU_CHECK(cudaMemcpyAsync(&epoch, all_reduce.pointers()[1][2], sizeof(epoch),
                              cudaMemcpyDeviceToHost, streams_[1].get()));
    GPU_CHECK(cudaStreamSynchronize(streams_[1].get()));
    return epoch;
  }

  // What block 0 of rank 1 would do to meet rank 0.
  void signal_rank_0(const CollectiveKernel& all_reduce, std::uint32_t epoch) {
    auto* signals = static_cast<std::uint32_t*>(all_reduce.pointers()[0][2]);
    GPU_CHECK(cudaMemcpyAsync(signals + most_collective_blocks, &epoch, sizeof(epoch),
                              cudaMemcpyHostToDevice, streams_[1].get()));
    GPU_CHECK(cudaStreamSynchronize(streams_[1].get()));
  }
};

TEST_F(AllReduce, IsRightAtTheEdges) {
  for (const Element type : row_types)
    for (const std::int64_t count : {1, 7, 8, 4099, 150000}) expect_right({count, 2, type});
}

class FourRanks : public Ranks {
 protected:
  FourRanks() : Ranks(4) {}
};

// All ranks must add in one order, or their results differ in the last bits.
TEST_F(FourRanks, GetTheSameBits) {
  for (const Element type : row_types)
    for (const int ranks : {3, 4}) expect_right({5000, ranks, type});
}

// Each execution has new data, which one rank gets late: without the first meeting the other one
// would add what was there before. Nothing is reset between them.
TEST_F(AllReduce, WaitsForDataThatComeLate) {
  CollectiveKernel all_reduce = kernel({4096, 2, Element::f32});
  for (int execution = 0; execution < 6; ++execution) {
    const int late = execution % 2, early = 1 - late;
    for (std::size_t rank = 0; rank < 2; ++rank)
      fill_normal(
          all_reduce.problem().ranks[rank][0],
          static_cast<std::uint32_t>(100 + 2 * execution) + static_cast<std::uint32_t>(rank), 1);
    all_reduce.upload(early, 0);
    all_reduce.enqueue(early);
    occupy(late, streams_[static_cast<std::size_t>(late)], 30000);
    all_reduce.upload(late, 0);
    all_reduce.enqueue(late);
    EXPECT_NO_THROW(all_reduce.verify()) << execution;
  }
}

// The test takes the place of rank 1 and lets rank 0 pass one meeting after the other: its kernel
// may read only after the first one and end only after the second, each time further than before.
TEST_F(AllReduce, MeetsTheOthersBeforeItReadsAndBeforeItEnds) {
  const AllReduceShape shape{2048, 2, Element::f32};  // one block
  CollectiveKernel all_reduce = kernel(shape);
  for (std::uint32_t execution = 0; execution < 2; ++execution) {
    all_reduce.enqueue(0);
    for (std::uint32_t meeting = 1; meeting <= 2; ++meeting) {
      const std::uint32_t epoch = 2 * execution + meeting;
      EXPECT_EQ(reached_by_rank_0(all_reduce), epoch);
      EXPECT_TRUE(rank_0_runs()) << epoch;
      signal_rank_0(all_reduce, epoch);
    }
    GPU_CHECK(cudaStreamSynchronize(streams_[0].get()));
  }
  EXPECT_EQ(reached_by_rank_0(all_reduce), 4U);
}

TEST_F(AllReduce, MovesWhatTheWorkClaims) {
  for (const Element type : row_types) {
    const AllReduceShape shape{1 << 16, 2, type};
    CollectiveKernel all_reduce = kernel(shape);
    const Counted two_ranks = counted([&] {
      all_reduce.enqueue();
      EXPECT_NO_THROW(all_reduce.verify());
    });
    const Work work = all_reduce_work(shape);
    EXPECT_EQ(two_ranks.launches, 2 * work.launches);
    EXPECT_EQ(two_ranks.of("fp32"), 2 * work.ops.at("f32"));
    // The signals: one sector per block and meeting.
    EXPECT_NEAR(two_ranks.peer, 2 * work.link_bytes, 0.02 * work.link_bytes);
    EXPECT_NEAR(two_ranks.dram_read, 2 * work.bytes_read, 0.02 * work.bytes_read);
  }
}

// The case against the planted link of 50 GB/s: a large vector gets more than half of it, none
// passes it.
TEST_F(AllReduce, TakesAsLongAsTheLink) {
  const Benchmark row = cuda_collective_kernels().at(0);
  std::string why;
  const Device device = find_cuda_devices(why).at(0);
  for (const auto& [size, least] : {std::pair{8192.0, 0.0}, {524288.0, 25e9}}) {
    Parameters point = row.points(device, Effort::quick).at(0);
    point["size"] = size;
    ASSERT_EQ(row.unsupported(device, point), std::nullopt);
    const auto all_reduce = row.make(device, point);
    const double seconds = all_reduce->sample().value;
    const auto bandwidth = all_reduce->conditions()["bus_bandwidth"].get<double>();
    EXPECT_DOUBLE_EQ(bandwidth, size / seconds);  // 2 (n - 1) / n is 1
    EXPECT_LT(bandwidth, 50e9);
    EXPECT_GT(bandwidth, least);
  }
}

TEST_F(AllReduce, RefusesRanksThatAreNotThere) {
  const Benchmark row = cuda_collective_kernels().at(0);
  std::string why;
  const auto devices = find_cuda_devices(why);
  EXPECT_TRUE(row.points(devices.at(1), Effort::thorough).empty());
  Parameters point = row.points(devices.at(0), Effort::quick).at(0);
  point["ranks"] = 4.0;
  EXPECT_EQ(row.unsupported(devices[0], point), "4 ranks; this system has 2 GPUs");
}

}  // namespace
}  // namespace warpmeter
