// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// planted CHIP_FILE SEED: changes latencies, capacities and the line of the chip file by SEED,
// measures them on the emulated GPU as one would on a real one, and compares. Exit status 1 if one
// differs.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/emulator/kernels.h"

namespace {

bool failed = false;

void compare(const char* what, double measured, double planted, double tolerance) {
  const bool same = std::fabs(measured - planted) <= tolerance;
  std::printf("%-18s planted %9.2f measured %9.2f %s\n", what, planted, measured,
              same ? "" : "DIFFERS");
  failed = failed || !same;
}

template <typename T>
T* allocate(std::size_t n) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, n * sizeof(T)) != cudaSuccess) std::exit(2);
  return static_cast<T*>(memory);
}

// Cycles per hop around a ring of `bytes` with an element each `stride`, in steps that are no
// neighbours; the first and the second time round.
struct Hops {
  double first;
  double second;
};
Hops chase(int way, std::size_t bytes, std::size_t stride) {
  const std::size_t count = bytes / stride;
  char* ring = allocate<char>(bytes);
  std::size_t step = count * 5 / 8 + 1;
  while (std::gcd(step, count) != 1) ++step;
  std::vector<char> image(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    char* next = ring + (i + step) % count * stride;
    std::memcpy(image.data() + i * stride, &next, sizeof next);
  }
  auto* cycles = allocate<std::uint64_t>(2);
  cudaMemcpy(ring, image.data(), bytes, cudaMemcpyHostToDevice);
  const int hops = static_cast<int>((count + 15) / 16 * 16);
  run_chase(way, ring, hops, cycles);
  std::uint64_t host[2] = {};
  if (cudaMemcpy(host, cycles, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(2);
  cudaFree(ring);
  cudaFree(cycles);
  return {static_cast<double>(host[0]) / hops, static_cast<double>(host[1]) / hops};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
  nlohmann::json chip = nlohmann::json::parse(std::ifstream(argv[1]));
  const auto between = [&random](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  chip["l1"]["latency"] = between(25, 60);
  chip["shared"]["latency"] = between(15, 40);
  chip["l2"]["latency"] = between(150, 300);
  chip["dram"]["latency"] = between(350, 900);
  chip["l1"]["bytes"] = 1024 * between(112, 200);
  chip["l2"]["bytes"] = 4096 * between(80, 200);
  chip["instructions"]["fp32"]["latency"] = between(3, 9);
  const std::string path = std::string("planted_") + argv[2] + ".json";
  std::ofstream(path) << chip;
  setenv("WARPMETER_EMULATED_CHIP_FILE", path.c_str(), 1);

  const double l1 = chip["l1"]["latency"], l2 = chip["l2"]["latency"],
               dram = chip["dram"]["latency"];
  const std::size_t l1_bytes = chip["l1"]["bytes"], l2_bytes = chip["l2"]["bytes"];
  compare("l1.latency", chase(chase_ca, 16384, 128).second, l1, 2);
  compare("l2.latency", chase(chase_cg, 65536, 128).second, l2, 2);
  compare("dram.latency", chase(chase_cg, 65536, 128).first, dram, 2);
  // A ring as large as the cache stays in it; one of twice the size, in this order, does not.
  compare("l1.bytes fits", chase(chase_ca, l1_bytes / 8192 * 8192 - 8192, 128).second, l1, 2);
  compare("l1.bytes exceeded", chase(chase_ca, 2 * l1_bytes, 128).second, l2, 2);
  compare("l2.bytes fits", chase(chase_cg, l2_bytes - 16384, 128).second, l2, 2);
  compare("l2.bytes exceeded", chase(chase_cg, 2 * l2_bytes, 128).second, dram, 2);
  auto* cycles = allocate<std::uint64_t>(1);
  auto* value = allocate<float>(1);
  std::uint64_t host = 0;
  run_shared_chase(1024, cycles);
  cudaMemcpy(&host, cycles, sizeof host, cudaMemcpyDeviceToHost);
  compare("shared.latency", static_cast<double>(host) / 1024, chip["shared"]["latency"], 1);
  cudaMemset(value, 0, 4);
  run_fma_chain(1024, cycles, value);
  cudaMemcpy(&host, cycles, sizeof host, cudaMemcpyDeviceToHost);
  compare("fp32.latency", static_cast<double>(host) / 1024, chip["instructions"]["fp32"]["latency"],
          0.2);
  return failed || cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}
