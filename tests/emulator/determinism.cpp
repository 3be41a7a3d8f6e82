// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// determinism DELAY_US: runs a mix of kernels, copies and graphs on two devices, with a pause of
// the host between calls, and prints all results and times. Every run must print the same.
#include "tests/emulator/determinism.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/emulator/patterns.h"

namespace {

constexpr std::size_t bytes = std::size_t{2} << 20;
unsigned delay_us = 0;

void check(cudaError_t status) {
  usleep(delay_us);
  if (status == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(status));
  std::exit(1);
}

// FNV-1a over the bytes of device memory.
void print_hash(const char* what, const void* data, std::size_t size) {
  std::vector<unsigned char> host(size);
  check(cudaMemcpy(host.data(), data, size, cudaMemcpyDefault));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : host) hash = (hash ^ c) * 0x100000001b3;
  std::printf("%s %016llx\n", what, static_cast<unsigned long long>(hash));
}

struct Side {
  char* data = nullptr;
  std::uint32_t* places = nullptr;
  cudaStream_t streams[2] = {};
  cudaEvent_t events[4] = {};
};

void prepare(int device, Side& side) {
  check(cudaSetDevice(device));
  check(cudaDeviceEnablePeerAccess(1 - device, 0));
  check(cudaMalloc(reinterpret_cast<void**>(&side.data), 2 * bytes));
  check(cudaMalloc(reinterpret_cast<void**>(&side.places), 32768));
  check(cudaMemset(side.data, 17 + device, 2 * bytes));
  check(cudaMemset(side.places, 0, 32768));
  for (cudaStream_t& stream : side.streams) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  for (cudaEvent_t& event : side.events) check(cudaEventCreate(&event));
}

// Two streams of kernels and copies, and a graph of the same.
void work(Side& side, const Side& other) {
  check(cudaEventRecord(side.events[0], side.streams[0]));
  run_race(side.places, side.streams[0]);
  run_pattern(Pattern::stream_copy, 9, bytes, side.data, side.streams[1]);
  check(cudaEventRecord(side.events[1], side.streams[1]));
  check(cudaMemcpyAsync(side.data, other.data + bytes, bytes / 2, cudaMemcpyDefault,
                        side.streams[0]));
  run_pattern(Pattern::stream_read, 7, bytes, other.data, side.streams[1]);
  check(cudaEventRecord(side.events[2], side.streams[0]));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(side.streams[0], cudaStreamCaptureModeThreadLocal));
  run_race(side.places, side.streams[0]);
  run_pattern(Pattern::fma, 3, 4, side.data, side.streams[0]);
  run_race(side.places, side.streams[0]);
  check(cudaStreamEndCapture(side.streams[0], &graph));
  check(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) check(cudaGraphLaunch(exec, side.streams[i % 2]));
  check(cudaEventRecord(side.events[3], side.streams[1]));
}

}  // namespace

int main(int argc, char** argv) {
  delay_us = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
  Side sides[2];
  for (int d = 0; d < 2; ++d) prepare(d, sides[d]);
  for (int d = 0; d < 2; ++d) {
    check(cudaSetDevice(d));
    work(sides[d], sides[1 - d]);
  }
  for (int d = 0; d < 2; ++d) {
    check(cudaSetDevice(d));
    check(cudaDeviceSynchronize());
    print_hash("data", sides[d].data, 2 * bytes);
    print_hash("places", sides[d].places, 32768);
    for (int e = 1; e < 4; ++e) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, sides[d].events[0], sides[d].events[e]));
      std::printf("event %d: %a ms\n", e, static_cast<double>(ms));
    }
  }
  return 0;
}
