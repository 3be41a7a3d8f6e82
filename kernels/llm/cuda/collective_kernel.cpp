// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/collective_kernel.h"

#include <fmt/format.h>

#include "cuda/check.h"

namespace warpmeter {
namespace {

// Calls visit(from, to) for all ordered pairs of different devices.
template <class Visit>
void for_pairs(std::span<const int> ordinals, Visit visit) {
  for (const int from : ordinals)
    for (const int to : ordinals)
      if (from != to) visit(from, to);
}

void enable_peer_access(int from, int to) {
  const DeviceGuard guard(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status != cudaErrorPeerAccessAlreadyEnabled)
    GPU_CHECK(status);
  else
    (void)cudaGetLastError();
}

}  // namespace

std::string no_peer_access(std::span<const int> ordinals) {
  std::string why;
  for_pairs(ordinals, [&](int from, int to) {
    int possible = 0;
    GPU_CHECK(cudaDeviceCanAccessPeer(&possible, from, to));
    if (possible == 0)
      why = fmt::format("cuda:{} cannot address the memory of cuda:{} (cudaDeviceCanAccessPeer)",
                        from, to);
  });
  return why;
}

CollectiveKernel::CollectiveKernel(CollectiveProblem problem, CollectiveLaunch launch,
                                   std::vector<int> ordinals, std::vector<cudaStream_t> streams)
    : problem_(std::move(problem)),
      launch_(std::move(launch)),
      ordinals_(std::move(ordinals)),
      streams_(std::move(streams)),
      buffers_(ordinals_.size()),
      pointers_(ordinals_.size()) {
  for_pairs(ordinals_, enable_peer_access);
  for (std::size_t rank = 0; rank < ordinals_.size(); ++rank) {
    const DeviceGuard guard(ordinals_[rank]);
    launch_.load();
    for (std::size_t i = 0; i < problem_.ranks[rank].size(); ++i) {
      const Operand& operand = problem_.ranks[rank][i];
      if (operand.role == Role::output || operand.role == Role::scratch) poison(operand);
      pointers_[rank].push_back(buffers_[rank].emplace_back(operand.memory.size()).as<void>());
      upload(static_cast<int>(rank), i);
    }
    GPU_CHECK(cudaStreamSynchronize(streams_[rank]));
  }
}

void CollectiveKernel::enqueue() const {
  for (std::size_t rank = 0; rank < ordinals_.size(); ++rank) enqueue(static_cast<int>(rank));
}

void CollectiveKernel::enqueue(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  const DeviceGuard guard(ordinals_[at]);
  launch_.enqueue(pointers_, rank, streams_[at]);
}

void CollectiveKernel::upload(int rank, std::size_t operand) const {
  const auto at = static_cast<std::size_t>(rank);
  const DeviceGuard guard(ordinals_[at]);
  const Buffer& memory = problem_.ranks[at][operand].memory;
  GPU_CHECK(cudaMemcpyAsync(pointers_[at][operand], memory.data(), memory.size(),
                            cudaMemcpyHostToDevice, streams_[at]));
}

void CollectiveKernel::verify() {
  for (std::size_t rank = 0; rank < ordinals_.size(); ++rank) {
    const DeviceGuard guard(ordinals_[rank]);
    for (std::size_t i = 0; i < pointers_[rank].size(); ++i) {
      const Operand& operand = problem_.ranks[rank][i];
      if (operand.role != Role::output && operand.role != Role::updated) continue;
      GPU_CHECK(cudaMemcpyAsync(operand.memory.data(), pointers_[rank][i], operand.memory.size(),
                                cudaMemcpyDeviceToHost, streams_[rank]));
    }
  }
  for (const cudaStream_t stream : streams_) GPU_CHECK(cudaStreamSynchronize(stream));
  problem_.verify();
}

}  // namespace warpmeter
