// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A stand-in for libnccl.so.2, for tests only: all-reduces on the host, with the memory of emulated
// GPUs, whose addresses are the host's. A group's calls take effect together at its end, after what
// their streams hold; partial sums are rounded to the type as a ring's are.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <memory>
#include <vector>

#include "kernels/llm/element.h"

struct ncclComm {
  int rank, ranks;
};

namespace {

struct Call {
  const void* send;
  void* receive;
  std::size_t count;
  ncclDataType_t type;
  int rank, ranks;
  cudaStream_t stream;
};

int depth = 0;
std::vector<Call> calls;

float load(const Call& call, std::size_t i) {
  if (call.type == ncclFloat32) return static_cast<const float*>(call.send)[i];
  return warpmeter::bf16_to_float(static_cast<const std::uint16_t*>(call.send)[i]);
}

void store(const Call& call, std::size_t i, float value) {
  if (call.type == ncclFloat32)
    static_cast<float*>(call.receive)[i] = value;
  else
    static_cast<std::uint16_t*>(call.receive)[i] = warpmeter::float_to_bf16(value);
}

float rounded(const Call& call, float value) {
  if (call.type == ncclFloat32) return value;
  return warpmeter::bf16_to_float(warpmeter::float_to_bf16(value));
}

void add_up(void* argument) {
  const std::unique_ptr<std::vector<Call>> group(static_cast<std::vector<Call>*>(argument));
  for (std::size_t i = 0; i < group->front().count; ++i) {
    float sum = load(group->front(), i);
    for (std::size_t rank = 1; rank < group->size(); ++rank)
      sum = rounded((*group)[rank], sum + load((*group)[rank], i));
    for (const Call& call : *group) store(call, i, sum);
  }
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = 22999;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "error of the stand-in"; }

// Refuses five ranks.
ncclResult_t ncclCommInitAll(ncclComm_t* made, int ranks, const int* devices) {
  if (ranks == 5) return ncclSystemError;
  for (int rank = 0; rank < ranks; ++rank) made[rank] = new ncclComm{devices[rank], ranks};
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  if (depth != 1 || operation != ncclSum || (type != ncclFloat32 && type != ncclBfloat16) ||
      communicator->rank != static_cast<int>(calls.size()))
    return ncclInvalidUsage;
  calls.push_back({send, receive, count, type, communicator->rank, communicator->ranks, stream});
  return ncclSuccess;
}

// Like the library it only enqueues: rank 0's stream waits for the others', adds, and they wait.
ncclResult_t ncclGroupEnd() {
  if (--depth != 0 || calls.empty() || static_cast<int>(calls.size()) != calls[0].ranks)
    return ncclInvalidUsage;
  auto* group = new std::vector<Call>(std::move(calls));
  calls.clear();
  int device = 0;
  bool good = cudaGetDevice(&device) == cudaSuccess;
  const auto order = [&](const Call& before, const Call& after) {
    cudaEvent_t event = nullptr;
    good = good && cudaSetDevice(before.rank) == cudaSuccess &&
           cudaEventCreate(&event) == cudaSuccess &&
           cudaEventRecord(event, before.stream) == cudaSuccess &&
           cudaStreamWaitEvent(after.stream, event, 0) == cudaSuccess &&
           cudaEventDestroy(event) == cudaSuccess;
  };
  const std::vector<Call> all = *group;
  for (std::size_t rank = 1; rank < all.size(); ++rank) order(all[rank], all[0]);
  good = good && cudaSetDevice(0) == cudaSuccess &&
         cudaLaunchHostFunc(all[0].stream, add_up, group) == cudaSuccess;
  for (std::size_t rank = 1; rank < all.size(); ++rank) order(all[0], all[rank]);
  good = good && cudaSetDevice(device) == cudaSuccess;
  return good ? ncclSuccess : ncclUnhandledCudaError;
}

}  // extern "C"
