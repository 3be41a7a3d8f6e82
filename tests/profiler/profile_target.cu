// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A program to be profiled: what it does is known. It knows nothing of warpmeter.
// Usage: profile_target MODE [N]; see main().
#include <cuda_runtime.h>
#include <dirent.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads_per_block = 64;

__global__ void short_kernel(float* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] += 1;
}

__global__ void long_kernel(float* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float value = data[i];
  for (int k = 0; k < 512; ++k) value = value * 0.5f + 1;
  data[i] = value;
}

// Its name says that it waits for other GPUs.
__global__ void ncclDevKernel_stand_in(float* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] += 2;
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "profile_target: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

struct Buffer {
  static constexpr int n = 256;
  float* data = nullptr;
  cudaStream_t stream = nullptr;
  Buffer() {
    check(cudaMalloc(&data, n * sizeof(float)), "cudaMalloc");
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaMemsetAsync(data, 0, n * sizeof(float), stream), "cudaMemsetAsync");
  }
};

// `steps` ranges "step", each with one short and two long kernels and a copy of 1 KiB back.
void run(int steps) {
  Buffer buffer;
  std::vector<float> host(Buffer::n);
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA("step");
    short_kernel<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
    for (int k = 0; k < 2; ++k)
      long_kernel<<<2, 2 * threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
    check(cudaMemcpyAsync(host.data(), buffer.data, Buffer::n * sizeof(float),
                          cudaMemcpyDeviceToHost, buffer.stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(buffer.stream), "cudaStreamSynchronize");
    nvtxRangePop();
  }
}

// A graph of three kernels, captured in a range "capture", launched in ranges "replay".
void run_graph(int launches) {
  Buffer buffer;
  nvtxRangePushA("capture");
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(buffer.stream, cudaStreamCaptureModeThreadLocal), "capture");
  short_kernel<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
  long_kernel<<<2, 2 * threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
  short_kernel<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
  check(cudaStreamEndCapture(buffer.stream, &graph), "cudaStreamEndCapture");
  nvtxRangePop();
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < launches; ++i) {
    nvtxRangePushA("replay");
    check(cudaGraphLaunch(executable, buffer.stream), "cudaGraphLaunch");
    nvtxRangePop();
  }
  check(cudaStreamSynchronize(buffer.stream), "cudaStreamSynchronize");
}

// After a range "begin": `rounds` of a plain kernel, one whose name is on the list, and a graph of
// the plain one, which is captured anew each time. The data are checked.
void run_mixed(int rounds) {
  Buffer buffer;
  nvtxRangePushA("begin");
  for (int i = 0; i < rounds; ++i) {
    short_kernel<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
    ncclDevKernel_stand_in<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(buffer.stream, cudaStreamCaptureModeGlobal), "capture");
    short_kernel<<<4, threads_per_block, 0, buffer.stream>>>(buffer.data, Buffer::n);
    check(cudaStreamEndCapture(buffer.stream, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(executable, buffer.stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(buffer.stream), "cudaStreamSynchronize");
  }
  nvtxRangePop();
  std::vector<float> host(Buffer::n);
  check(cudaMemcpy(host.data(), buffer.data, Buffer::n * sizeof(float), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  for (const float value : host)
    if (value != 4.0f * static_cast<float>(rounds)) std::exit(5);
}

// Real time, whatever clock the threads that use CUDA see.
void rest(int milliseconds) {
  std::thread([milliseconds] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }).join();
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Both sides use CUDA, after the fork.
int fork_before(int steps) {
  const pid_t child = ::fork();
  run(steps);
  if (child == 0) std::exit(0);
  return wait_for(child);
}

// The parent uses CUDA; the child does not, and ends in the usual way.
int fork_after(int steps) {
  run(steps);
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  const int status = wait_for(child);
  run(steps);
  return status;
}

void run_threads(int count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([i] {
      nvtxRangePushA(("thread " + std::to_string(i)).c_str());
      run(1 + i);
      nvtxRangePop();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// While "go" is not there, steps of a server: no end but by a signal.
void serve(const char* stop_file) {
  while (::access(stop_file, F_OK) != 0) {
    run(1);
    rest(5);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? std::atoi(argv[2]) : 1;
  if (mode == "none") return 0;
  if (mode == "fail") return 7;
  if (mode == "stdout") {
    std::puts("what the program says");
    run(n);
    return 0;
  }
  if (mode == "run") run(n);
  if (mode == "graph") run_graph(n);
  if (mode == "mixed") run_mixed(n);
  if (mode == "threads") run_threads(n);
  if (mode == "fork-before") return fork_before(n);
  if (mode == "fork-after") return fork_after(n);
  if (mode == "serve") serve(argv[2]);
  if (mode == "reset") {
    run(n);
    check(cudaDeviceReset(), "cudaDeviceReset");
    run(n);
  }
  if (mode == "exec") {  // the same pid, another program
    run(n);
    rest(400);
    const std::string count = std::to_string(n + 1);
    ::execl(argv[0], argv[0], "run", count.c_str(), static_cast<char*>(nullptr));
    return 4;
  }
  if (mode == "kill" || mode == "_exit" || mode == "abort") {
    run(n);
    rest(600);  // more than a flush of the profiler
    if (mode == "kill") ::kill(::getpid(), SIGKILL);
    if (mode == "abort") std::abort();
    ::_exit(0);
  }
  if (mode == "nvtx") {
    nvtxRangePushA("only NVTX");
    nvtxRangePop();
  }
  if (mode == "phases") {  // nothing before the range "begin" is of interest
    run(n);
    nvtxRangePushA("begin");
    run(n + 1);
    nvtxRangePop();
  }
  return 0;
}
