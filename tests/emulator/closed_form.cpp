// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// closed_form CHIP_FILE SEED: draws a chip by SEED, runs kernels on it and compares their time with
// what follows from the chip's numbers. Exit status 1 if one differs. It finds faults of the timing
// model; whether the suite finds the numbers is another matter.
#include "tests/emulator/closed_form.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/emulator/kernels.h"
#include "tests/emulator/patterns.h"

namespace {

using Json = nlohmann::json;
Json chip;
bool failed = false;
constexpr std::size_t data_bytes = std::size_t{16} << 20;
char* data = nullptr;             // of data_bytes
std::uint64_t* result = nullptr;  // 64 KiB

double number(const char* key) { return chip.at(Json::json_pointer(key)).get<double>(); }

void compare(const std::string& what, double measured, double planted, double tolerance) {
  const bool same = std::fabs(measured - planted) <= tolerance;
  std::printf("%-28s planted %12.3f measured %12.3f %s\n", what.c_str(), planted, measured,
              same ? "" : "DIFFERS");
  failed = failed || !same;
}

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(status));
  std::exit(2);
}

double cycles(std::size_t index = 0) {
  std::uint64_t value = 0;
  check(cudaMemcpy(&value, result + index, sizeof value, cudaMemcpyDeviceToHost));
  return static_cast<double>(value);
}

// Cycles of a pattern beyond those of one of size 0.
double duration(Pattern pattern, int blocks, std::size_t n) {
  cudaEvent_t events[3];
  for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  float with = 0, without = 0;
  check(cudaEventRecord(events[0]));
  run_pattern(pattern, blocks, 0, data);
  check(cudaEventRecord(events[1]));
  check(cudaDeviceSynchronize());
  check(cudaEventElapsedTime(&without, events[0], events[1]));
  check(cudaEventRecord(events[1]));
  run_pattern(pattern, blocks, n, data);
  check(cudaEventRecord(events[2]));
  check(cudaDeviceSynchronize());
  check(cudaEventElapsedTime(&with, events[1], events[2]));
  return 1e-3 * static_cast<double>(with - without) * number("/sm/hz");
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<int>(values.size()) - 1)];
  }

 private:
  std::mt19937 random_;
};

// What a seed looks at besides instructions.
enum class Kind : unsigned { rates, outstanding, translation };

void draw_chip(Draw& draw, Kind kind) {
  for (const char* op : {"alu", "imad", "fp32", "fp64", "special_function", "convert"}) {
    chip["instructions"][op] = {{"latency", draw.between(2, 20)},
                                {"interval", draw.one_of({1.0, 1.5, 2.0, 4.0, 7.0})}};
  }
  // Rates of memory are not to be hidden behind the arithmetic of addresses.
  if (kind != Kind::translation) chip["instructions"]["alu"]["interval"] = 1;
  chip["instructions"]["mma_f16"]["macs_per_cycle"] = draw.between(100, 600);
  chip["sm"]["count"] = draw.between(1, 4) * 2 + 1;
  chip["sm"]["id_stride"] = draw.between(1, 2);
  chip["sm"]["hz"] = 1e8 * draw.between(8, 20);
  chip["shared"]["latency"] = draw.between(15, 40);
  chip["shared"]["banks"] = draw.one_of({16, 24, 32, 33});
  const int line = draw.one_of({64, 96, 128});
  const int partitions = kind == Kind::outstanding ? 1 : draw.one_of({1, 2, 2});
  Json& l2 = chip["l2"];
  l2["line"] = line;
  l2["ways"] = draw.one_of({5, 12, 16});
  l2["bytes"] = line * draw.between(5000, 9000);
  l2["partitions"] = partitions;
  l2["slices"] = partitions * draw.between(1, 3) * draw.one_of({1, 3, 5});
  l2["latency"] = draw.between(150, 300);
  l2["far_latency"] = partitions == 1 ? 0 : draw.between(20, 90);
  l2["slice_bytes_per_cycle"] = draw.between(20, 64);
  l2["sm_bytes_per_cycle"] = draw.between(30, 64);
  l2["atomic_interval"] = draw.one_of({0.5, 1.0, 2.0, 3.0});
  chip["dram"] = {{"latency", draw.between(400, 900)},
                  {"channels", draw.between(1, 7)},
                  {"bytes_per_second", 1e9 * draw.between(20, 120)}};
  chip["l1"]["outstanding"] = kind == Kind::outstanding ? draw.between(40, 100) : 8192;
  if (kind != Kind::translation) return;
  const int page = 65536;
  chip["tlb"] = {{"page_bytes", page},
                 {"l1_reach_bytes", page * draw.between(5, 12)},
                 {"l1_miss_latency", draw.between(20, 60)},
                 {"l2_reach_bytes", page * draw.between(20, 40)},
                 {"l2_miss_latency", draw.between(100, 300)}};
}

void check_instructions() {
  const struct {
    const char* name;
    TimedOp op;
  } ops[] = {{"alu", TimedOp::alu},         {"imad", TimedOp::imad},
             {"fp32", TimedOp::fp32},       {"fp64", TimedOp::fp64},
             {"convert", TimedOp::convert}, {"special_function", TimedOp::special_function}};
  constexpr int steps = 2048;
  for (const auto& [name, op] : ops) {
    const std::string key = std::string("/instructions/") + name;
    const double latency = number((key + "/latency").c_str());
    const double interval = number((key + "/interval").c_str());
    run_op_chain(op, steps, result);
    const double chain = std::max({1.0, latency, interval});
    compare(key + " chain", cycles() / steps, chain, 0.02 * chain + 0.1);
    run_op_chains(op, steps, result);
    const double chains = std::max({1.0, interval, latency / 8});
    compare(key + " 8 chains", cycles() / steps, chains, 0.02 * chains + 0.1);
  }
}

void check_shared() {
  const int banks = chip["shared"]["banks"];
  for (const int stride : {1, 2, 3, 8, 16, 32, 33}) {
    std::vector<int> lanes(static_cast<std::size_t>(banks));
    for (int lane = 0; lane < 32; ++lane) ++lanes[static_cast<std::size_t>(lane * stride % banks)];
    const int wavefronts = *std::max_element(lanes.begin(), lanes.end());
    run_conflicts(stride, 512, result);
    compare("shared, stride " + std::to_string(stride), cycles() / 512,
            number("/shared/latency") + wavefronts - 1, 0.3);
  }
}

// Cycles per hop around a ring of `count` places, the second time round.
double hop(std::size_t count, std::size_t stride) {
  const std::size_t bytes = count * stride;
  std::vector<char> image(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const char* next = data + (i + 1) % count * stride;
    std::memcpy(image.data() + i * stride, &next, sizeof next);
  }
  check(cudaMemcpy(data, image.data(), bytes, cudaMemcpyHostToDevice));
  const int hops = static_cast<int>((count + 15) / 16 * 16);
  run_chase(chase_cg, data, hops, result);
  return cycles(1) / hops;
}

void check_translation() {
  const double page = number("/tlb/page_bytes");
  const std::size_t stride = static_cast<std::size_t>(page) + chip["l2"]["line"].get<std::size_t>();
  const auto first = static_cast<std::size_t>(number("/tlb/l1_reach_bytes") / page);
  const auto second = static_cast<std::size_t>(number("/tlb/l2_reach_bytes") / page);
  // Between the two times round, a store takes an entry.
  const double l2 = number("/l2/latency") + number("/l2/far_latency") / 2;
  const double far = number("/l2/far_latency") / 2 + 2;
  const double one = number("/tlb/l1_miss_latency"), two = number("/tlb/l2_miss_latency");
  compare("tlb.l1 fits", hop(first - 1, stride), l2, far);
  compare("tlb.l1 exceeded", hop(first + 1, stride), l2 + one, far);
  compare("tlb.l2 fits", hop(second - 1, stride), l2 + one, far);
  compare("tlb.l2 exceeded", hop(second + 1, stride), l2 + one + two, far);
}

void check_capacity() {
  const std::size_t line = chip["l2"]["line"], ways = chip["l2"]["ways"];
  const std::size_t sets = chip["l2"]["bytes"].get<std::size_t>() / line / ways;
  const double far = number("/l2/far_latency") / 2;
  compare("l2 full", hop(sets * ways, line), number("/l2/latency") + far, 4);
  compare("l2 over", hop(sets * (ways + 1), line), number("/dram/latency") + far, 4);
}

// Every line is near or far, half of them each, and what is near for one SM is far for one of the
// other partition.
void check_partitions() {
  constexpr int count = 960;
  const int sms = chip["sm"]["count"];
  const std::size_t line = chip["l2"]["line"];
  const double near = number("/l2/latency"), far = near + number("/l2/far_latency");
  std::vector<std::uint32_t> seen[2] = {std::vector<std::uint32_t>(count),
                                        std::vector<std::uint32_t>(count)};
  auto* claim = reinterpret_cast<std::uint32_t*>(result) + count;
  for (int side = 0; side < 2; ++side) {
    const int sm = side * (sms - 1) * chip["sm"]["id_stride"].get<int>();
    check(cudaMemset(claim, 0, 4));
    run_line_latencies(sm, 4 * sms, data, count, line, reinterpret_cast<std::uint32_t*>(result),
                       claim);
    check(cudaMemcpy(seen[side].data(), result, 4 * count, cudaMemcpyDeviceToHost));
  }
  std::sort(seen[0].begin(), seen[0].end());
  const double low = seen[0].front(), high = seen[0].back();
  compare("l2 near", low, near, 3);
  compare("l2 far - near", high - low, far - near, 0);
  const auto middle = std::upper_bound(seen[0].begin(), seen[0].end(), seen[0].front());
  const auto nears = middle - seen[0].begin();
  if (far != near) compare("l2 share of near lines", static_cast<double>(nears) / count, 0.5, 0.01);
  if (far != near)
    compare("l2 kinds of lines", static_cast<double>(seen[0][static_cast<std::size_t>(nears)]),
            high, 0);
}

// By Little's law: an SM has so many sectors on their way, each for the latency of L2, the same for
// all.
void check_outstanding() {
  const int sms = chip["sm"]["count"];
  const std::size_t loads = static_cast<std::size_t>(4 * sms) * 16 * 16 * 20;
  const double each = number("/l2/latency") / (sms * number("/l1/outstanding"));
  duration(Pattern::sector_read, 4 * sms, loads);  // brings the sectors to L2
  compare("cycles of an L2 sector",
          duration(Pattern::sector_read, 4 * sms, loads) / static_cast<double>(loads), each,
          0.03 * each);
}

void check_rates() {
  const int sms = chip["sm"]["count"];
  const double ports = sms * number("/l2/sm_bytes_per_cycle");
  const double slices = number("/l2/slices") * number("/l2/slice_bytes_per_cycle");
  const double dram = number("/dram/bytes_per_second") / number("/sm/hz");
  const double l2 = std::min(ports, slices);
  // The same number of tiles for each block.
  const int blocks = 4 * sms;
  constexpr std::size_t tile = 32768;
  const std::size_t bytes = data_bytes / tile / static_cast<std::size_t>(blocks) * tile *
                            static_cast<std::size_t>(blocks);
  const double n = static_cast<double>(bytes);
  duration(Pattern::cached_read, blocks, bytes);  // brings the lines to L2
  compare("l2 B/cycle", n / duration(Pattern::cached_read, blocks, bytes), l2, 0.03 * l2);
  const double memory = std::min(l2, dram);
  duration(Pattern::stream_read, blocks, bytes);  // leaves nothing that the next finds
  compare("dram read B/cycle", n / duration(Pattern::stream_read, blocks, bytes), memory,
          0.03 * memory);
  // As many stores as L2 holds need no DRAM.
  const double kept = number("/l2/bytes");
  const double writes = kept / l2 + (n - kept) / memory;
  compare("cycles of stores", duration(Pattern::stream_write, blocks, bytes), writes,
          0.03 * writes);
  const double lanes = 256.0 * 50 * blocks;
  const double atomics = lanes * number("/l2/atomic_interval");
  compare("atomics", duration(Pattern::atomics, blocks, 50), atomics, 0.02 * atomics);
  const double mma = 64.0 * 16 * 4 * 2048 / number("/instructions/mma_f16/macs_per_cycle");
  compare("mma", duration(Pattern::mma, sms, 64), mma, 0.02 * mma);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto seed = static_cast<unsigned>(std::atoi(argv[2]));
  const auto kind = static_cast<Kind>(seed % 3);
  chip = Json::parse(std::ifstream(argv[1]));
  Draw draw(seed);
  draw_chip(draw, kind);
  const std::string path = std::string("closed_form_") + argv[2] + ".json";
  std::ofstream(path) << chip.dump(2);
  setenv("WARPMETER_EMULATED_CHIP_FILE", path.c_str(), 1);
  check(cudaMalloc(reinterpret_cast<void**>(&data), data_bytes));
  check(cudaMalloc(reinterpret_cast<void**>(&result), 65536));
  check_instructions();
  check_shared();
  if (kind == Kind::translation) {
    check_translation();
  } else {
    check_capacity();
    check_partitions();
    kind == Kind::rates ? check_rates() : check_outstanding();
  }
  check(cudaDeviceSynchronize());
  return failed ? 1 : 0;
}
