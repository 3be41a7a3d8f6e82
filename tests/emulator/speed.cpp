// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Thread-instructions per second of the emulated GPU, from its own counters and the clock of the
// host. Timed: scripts/emulate tiny -- emulator_speed; functional: with
// WARPMETER_EMULATED_CLOCK=off.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/emulator/patterns.h"

namespace {

constexpr std::size_t data_bytes = std::size_t{32} << 20;
const std::string counters_path = "emulator_speed_counters." + std::to_string(getpid());

// Of the last launch.
double thread_instructions() {
  std::ifstream file(counters_path);
  std::string line, last;
  while (std::getline(file, line)) last = line;
  double sum = 0;
  if (last.empty()) return sum;
  const nlohmann::json launch = nlohmann::json::parse(last);
  for (const auto& count : launch["counters"]["thread_instructions"]) sum += count.get<double>();
  return sum;
}

// A ring through every `stride` bytes, in steps that are no neighbours.
void link_ring(char* data, std::size_t bytes, std::size_t stride) {
  const std::size_t count = bytes / stride;
  std::vector<char> image(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    char* next = data + (i + 5 * count / 8 + 1) % count * stride;
    std::memcpy(image.data() + i * stride, &next, sizeof next);
  }
  cudaMemcpy(data, image.data(), bytes, cudaMemcpyHostToDevice);
}

void measure(benchmark::State& state, Pattern pattern, std::size_t n) {
  int sms = 0;
  char* data = nullptr;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  if (cudaMalloc(reinterpret_cast<void**>(&data), data_bytes) != cudaSuccess) {
    return state.SkipWithError("no device: start this with scripts/emulate");
  }
  if (pattern == Pattern::chase) link_ring(data, data_bytes / 8, 128);
  const bool streams = pattern == Pattern::stream_read || pattern == Pattern::stream_copy;
  double instructions = 0;
  for ([[maybe_unused]] auto _ : state) {
    run_pattern(pattern, streams ? 4 * sms : sms, n, data);
    if (cudaDeviceSynchronize() != cudaSuccess) return state.SkipWithError("the kernel failed");
    state.PauseTiming();
    instructions += thread_instructions();
    state.ResumeTiming();
  }
  state.counters["thread_instructions/s"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsRate);
  cudaFree(data);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("WARPMETER_EMULATED_COUNTERS", counters_path.c_str(), 1);
  const char* mode = std::getenv("WARPMETER_EMULATED_CLOCK");
  benchmark::AddCustomContext("clock", mode == nullptr ? "timed" : mode);
  const struct {
    const char* name;
    Pattern pattern;
    std::size_t n;
  } rows[] = {{"spin", Pattern::spin, 2'000'000},
              {"chase", Pattern::chase, 400'000},
              {"fma_chain", Pattern::fma_chain, 1 << 20},
              {"fma", Pattern::fma, 128},
              {"mma", Pattern::mma, 16},
              {"shared", Pattern::shared, 2000},
              {"stream_read", Pattern::stream_read, std::size_t{16} << 20},
              {"stream_copy", Pattern::stream_copy, std::size_t{8} << 20},
              {"atomics", Pattern::atomics, 200}};
  for (const auto& row : rows) {
    benchmark::RegisterBenchmark(row.name, [row](benchmark::State& state) {
      measure(state, row.pattern, row.n);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::remove(counters_path.c_str());
  return 0;
}
