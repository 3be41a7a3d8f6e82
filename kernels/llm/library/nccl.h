// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "kernels/llm/all_reduce.h"
#include "kernels/llm/cuda/collective_kernel.h"

namespace warpmeter {

// Why NVIDIA's NCCL cannot be used in this process: libnccl.so.2 is not there or not whole. Null if
// it can; whether it starts on the devices shows when it is used.
std::optional<std::string> nccl_missing();

// All-reduce by NCCL, one process and one communicator per rank, rank i on device i; NCCL chooses
// algorithm and protocol. Operands of a rank: x, y (all_reduce.h), the rest unused.
class NcclAllReduce {
 public:
  // Throws std::runtime_error: the library is missing or does not start on the devices.
  explicit NcclAllReduce(const AllReduceShape& shape);
  ~NcclAllReduce();

  // Enqueues a rank's part; ranks follow each other from 0 on, and what they enqueue begins with
  // the last one's. Throws std::runtime_error if the library refuses.
  void enqueue(const RankPointers& pointers, int rank, cudaStream_t stream) const;

  // {implementation, library_version}.
  Json conditions() const;

 private:
  struct Communicators;
  AllReduceShape shape_;
  std::unique_ptr<Communicators> communicators_;
};

}  // namespace warpmeter
