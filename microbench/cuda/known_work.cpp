// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/known_work.h"

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/residency.h"
#include "cuda/session.h"
#include "kernels/micro/fill.h"
#include "kernels/micro/fma.h"
#include "kernels/micro/mma.h"
#include "kernels/micro/stream.h"
#include "microbench/cuda/sizes.h"

namespace warpmeter {
namespace {

constexpr double sector = 32;  // B, of all GPUs since Maxwell
constexpr std::uint32_t seed = 7;
constexpr int warp_threads = 32;

}  // namespace

struct KnownWorkKernels::Memory {
  explicit Memory(const Device& device)
      : session(device), flush(session.l2_bytes(), session.sm_count()) {}

  Session session;
  L2Flush flush;
  DeviceBuffer data, sums, operands, results, stamps;
};

KnownWorkKernels::KnownWorkKernels(const Device& device) {
  const DeviceGuard guard(device.ordinal);
  memory_ = std::make_unique<Memory>(device);
  add_streams(device);
  add_instructions();
  synchronize();
}

KnownWorkKernels::~KnownWorkKernels() = default;

void KnownWorkKernels::synchronize() const {
  GPU_CHECK(cudaStreamSynchronize(memory_->session.stream()));
}

void KnownWorkKernels::add_streams(const Device& device) {
  Memory& m = *memory_;
  const cudaStream_t stream = m.session.stream();
  const double footprint = dram_footprint(device, stream_tile);
  if (const auto why = too_large(device, 2 * footprint)) throw InputError(*why);
  const int blocks = 2 * m.session.sm_count();
  m.data = DeviceBuffer(static_cast<std::size_t>(2 * footprint));
  m.sums = DeviceBuffer(sizeof(std::uint32_t) * stream_threads * blocks);
  // Random, so that no compression makes the traffic less than the bytes.
  launch_fill({m.data.as<std::uint32_t>(), m.data.bytes() / 4, seed}, stream);
  for (const double bytes : {footprint, 2 * footprint}) {
    const auto tiles = static_cast<std::uint64_t>(bytes / stream_tile);
    const double sectors = bytes / sector;
    const ReadArgs read{m.data.as<uint4>(), tiles, 1, m.sums.as<std::uint32_t>(), nullptr};
    launches_.push_back({"read",
                         {{"dram.bytes_read", bytes},
                          {"l2.sectors_read", sectors},
                          {"l2.sectors_sm", sectors},
                          {"l1.sectors_load", sectors}},
                         [&m, stream] { m.flush.enqueue(stream); },
                         [=] { launch_read(read, LoadPath::ca, blocks, stream); }});
    const WriteArgs write{m.data.as<uint4>(), tiles, 1, seed, nullptr};
    const auto launch = [=] { launch_write(write, blocks, stream); };
    launches_.push_back(
        {"write", {{"dram.bytes_write", bytes}, {"l2.sectors_write", sectors}}, launch, launch});
  }
}

void KnownWorkKernels::add_instructions() {
  Memory& m = *memory_;
  const cudaStream_t stream = m.session.stream();
  const int blocks = m.session.sm_count();
  // Operands of both: words whose halves are 0.746 in bf16.
  m.operands = DeviceBuffer(sizeof(std::uint32_t) * fma_threads);
  GPU_CHECK(cudaMemsetAsync(m.operands.as<void>(), 0x3f, m.operands.bytes(), stream));
  const std::size_t fma_results = sizeof(float) * fma_threads;
  const std::size_t mma_results = sizeof(float4) * mma_threads * mma_accumulators;
  m.results = DeviceBuffer(std::max(fma_results, mma_results) * blocks);
  m.stamps = DeviceBuffer(sizeof(Stamp) * blocks);
  const auto nothing = [] {};
  for (const std::uint32_t trips : {64u, 128u}) {
    const double warps = blocks * (fma_threads / warp_threads);
    const FmaArgs fma{m.operands.as<float>(), 0.5f, 1.0f, trips, m.results.as<float>(),
                      m.stamps.as<Stamp>()};
    launches_.push_back(
        {"fma", {{"fma.instructions", warps * fma_chains * fma_unroll * trips}}, nothing, [=] {
           launch_fma_throughput(fma, blocks, stream);
         }});
    const double mma_warps = blocks * (mma_threads / warp_threads);
    const MmaArgs mma{m.operands.as<std::uint32_t>(), m.operands.as<std::uint32_t>(), trips,
                      m.results.as<float4>(), m.stamps.as<Stamp>()};
    launches_.push_back(
        {"mma",
         {{"tensor.instructions", mma_warps * mma_accumulators * mma_unroll * trips}},
         nothing,
         [=] { launch_mma(mma, blocks, stream); }});
  }
}

}  // namespace warpmeter
