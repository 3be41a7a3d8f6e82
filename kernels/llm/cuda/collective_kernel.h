// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "core/json.h"
#include "cuda/handles.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// A collective's data on the host: each rank's operands in the order of the launcher's pointers,
// and the check of all results.
struct CollectiveProblem {
  std::vector<std::deque<Operand>> ranks;
  std::function<void()> verify;  // throws std::runtime_error("corrupt: ...")
  std::int64_t checked_results = 0;
};

// Device pointers [rank][operand]; every rank's device can address all of them.
using RankPointers = std::vector<std::vector<void*>>;

// How a collective is launched. Both work on the current device.
struct CollectiveLaunch {
  std::function<void()> load;  // its kernels
  std::function<void(const RankPointers& pointers, int rank, cudaStream_t stream)> enqueue;
  Json conditions = Json::object();  // what the record says
};

// Why the devices cannot address each other's memory, else empty. Throws CudaError.
std::string no_peer_access(std::span<const int> ordinals);

// A problem with each rank's operands on a device of its own.
class CollectiveKernel {
 public:
  // Enables peer access for the process, loads the kernels and uploads the inputs. `ordinals` and
  // `streams` are those of the ranks. Throws CudaError.
  CollectiveKernel(CollectiveProblem problem, CollectiveLaunch launch, std::vector<int> ordinals,
                   std::vector<cudaStream_t> streams);

  // One execution on all ranks, not waited for.
  void enqueue() const;

  // A rank's part of it.
  void enqueue(int rank) const;

  // Uploads operand `operand` of a rank again, in its stream's order.
  void upload(int rank, std::size_t operand) const;

  // Copies the results back and compares them with double precision.
  void verify();

  const RankPointers& pointers() const { return pointers_; }
  const Json& conditions() const { return launch_.conditions; }
  CollectiveProblem& problem() { return problem_; }
  const CollectiveProblem& problem() const { return problem_; }

 private:
  CollectiveProblem problem_;
  CollectiveLaunch launch_;
  std::vector<int> ordinals_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::vector<DeviceBuffer>> buffers_;
  RankPointers pointers_;
};

}  // namespace warpmeter
