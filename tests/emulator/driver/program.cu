// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the injected client watches: `program SCENARIO`. It knows nothing of CUPTI.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void add_one(float* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] += 1;
}

__global__ void scale(float* data, int count, float factor) {
  __shared__ float tile[64];
  extern __shared__ float more[];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = i < count ? data[i] : 0;
  more[threadIdx.x] = factor;
  __syncthreads();
  if (i < count) data[i] = tile[threadIdx.x] * more[threadIdx.x];
}

namespace {

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorName(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

constexpr int count = 4096;

float* device_data() {
  float* data = nullptr;
  CHECK(cudaMalloc(&data, count * sizeof(float)));
  CHECK(cudaMemset(data, 0, count * sizeof(float)));
  return data;
}

long long now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

void print_time(const char* name) {
  std::printf("%s %lld\n", name, now_ns());
  std::fflush(stdout);
}

// One of everything, in a stream of its own.
void basic() {
  float* data = device_data();
  float* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, count * sizeof(float)));
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  print_time("begin");
  add_one<<<dim3(16, 2), dim3(64, 4), 0, stream>>>(data, count);
  scale<<<64, 64, 64 * sizeof(float), stream>>>(data, count, 2);
  CHECK(cudaMemcpyAsync(pinned, data, 1024, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  print_time("end");
  float pageable[4] = {1, 2, 3, 4};
  CHECK(cudaMemcpy(data, pageable, sizeof pageable, cudaMemcpyHostToDevice));
  CHECK(cudaMemsetAsync(data, 7, 4096, stream));
  cudaEvent_t event = nullptr;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaEventSynchronize(event));
  CHECK(cudaStreamDestroy(stream));
}

// Three nodes, of which two run the same kernel, launched twice.
void graph() {
  float* data = device_data();
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<16, 256, 0, stream>>>(data, count);
  scale<<<64, 64, 64 * sizeof(float), stream>>>(data, count, 2);
  add_one<<<16, 256, 0, stream>>>(data, count);
  cudaGraph_t captured = nullptr;
  CHECK(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, captured, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(captured));
}

// `n` launches, one after the other.
void many(int n) {
  float* data = device_data();
  for (int i = 0; i < n; ++i) add_one<<<16, 256>>>(data, count);
  CHECK(cudaDeviceSynchronize());
}

// Ends without waiting: one kernel could have ended a millisecond ago, another has just been
// launched.
void unfinished() {
  float* data = device_data();
  add_one<<<16, 256>>>(data, count);
  const timespec time{0, 1'000'000};
  nanosleep(&time, nullptr);
  add_one<<<16, 256>>>(data, count);
}

// Waits, in real time, for the injected client to make a file.
void wait_for(const char* file) {
  for (int i = 0; i < 1000 && access(file, F_OK) != 0; ++i) {
    if (std::system("sleep 0.05") != 0) return;
  }
  std::printf("found %d\n", access(file, F_OK) == 0);
}

void fork_child(bool parent_uses_cuda) {
  if (parent_uses_cuda) many(1);
  const pid_t child = fork();
  if (child == 0) {
    int devices = 0;
    std::printf("child %s\n", cudaGetErrorName(cudaGetDeviceCount(&devices)));
    std::fflush(stdout);
    if (!parent_uses_cuda) many(2);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("status %d\n", status);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "basic";
  if (std::strcmp(scenario, "basic") == 0) basic();
  if (std::strcmp(scenario, "graph") == 0) graph();
  if (std::strcmp(scenario, "many") == 0) many(std::atoi(argv[2]));
  if (std::strcmp(scenario, "wait") == 0) {
    many(std::atoi(argv[2]));
    wait_for(argv[3]);
  }
  if (std::strcmp(scenario, "unfinished") == 0) unfinished();
  if (std::strcmp(scenario, "fork") == 0) fork_child(false);
  if (std::strcmp(scenario, "late_fork") == 0) fork_child(true);
  if (std::strcmp(scenario, "reset") == 0) {
    many(1);
    CHECK(cudaDeviceReset());
    many(1);
  }
  return 0;
}
