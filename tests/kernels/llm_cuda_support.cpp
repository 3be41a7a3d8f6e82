// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/kernels/llm_cuda_support.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/json.h"
#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/residency.h"

namespace warpmeter {
namespace {

const std::string& counters_file();

void remove_counters() { std::remove(counters_file().c_str()); }

// A name in the environment before the library's first launch. Never destroyed: exit needs it.
const std::string& counters_file() {
  static const std::string& file = *[] {
    auto* name =
        new std::string(testing::TempDir() + "warpmeter_counters." + std::to_string(getpid()));
    setenv("WARPMETER_EMULATED_COUNTERS", name->c_str(), 1);
    std::atexit(remove_counters);
    return name;
  }();
  return file;
}

std::vector<Json> read_lines(const std::string& file) {
  std::ifstream in(file);
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

void add(Counted& sum, const Json& counters) {
  sum.dram_read += counters["dram_read_bytes"].get<double>();
  sum.dram_written += counters["dram_write_bytes"].get<double>();
  sum.l2 += 32 * counters["l2_sectors"].get<double>();
  for (const auto& [name, count] : counters["thread_instructions"].items())
    sum.instructions[name] += count.get<double>();
  sum.shared_conflicts += counters["shared_conflicts"].get<double>();
  sum.peer += counters["peer_bytes"].get<double>();
  ++sum.launches;
}

}  // namespace

void OnEmulatedGpu::SetUp() {
  (void)counters_file();
  std::string why;
  const auto devices = find_cuda_devices(why);
  ASSERT_FALSE(devices.empty()) << why;
  ASSERT_TRUE(is_emulated(devices[0])) << "start by scripts/emulate CHIP --";
}

Counted OnEmulatedGpu::run(Problem problem, const Launch& launch) {
  return run([&](cudaStream_t stream) {
    return std::make_unique<DeviceKernel>(std::move(problem), PreparedLaunch{launch}, stream);
  });
}

Counted OnEmulatedGpu::run(const DeviceKernelCase::Make& make) {
  const Stream stream = make_stream();
  const std::unique_ptr<DeviceWork> kernel = make(stream.get());
  int l2_bytes = 0;
  GPU_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
  const L2Flush flush(static_cast<std::size_t>(l2_bytes), 4);
  flush.enqueue(stream.get());
  GPU_CHECK(cudaStreamSynchronize(stream.get()));
  const std::size_t begin = read_lines(counters_file()).size();
  kernel->enqueue(stream.get());
  GPU_CHECK(cudaStreamSynchronize(stream.get()));
  const std::size_t end = read_lines(counters_file()).size();
  flush.enqueue(stream.get());
  GPU_CHECK(cudaStreamSynchronize(stream.get()));
  const std::vector<Json> lines = read_lines(counters_file());
  Counted counted;
  for (std::size_t i = begin; i < end; ++i) add(counted, lines[i]["counters"]);
  EXPECT_NO_THROW(kernel->verify(stream.get()));
  counted.dram_written += lines.back()["counters"]["dram_write_bytes"].get<double>();
  return counted;
}

Counted OnEmulatedGpu::counted(const std::function<void()>& execute) {
  const std::size_t begin = read_lines(counters_file()).size();
  execute();
  const std::vector<Json> lines = read_lines(counters_file());
  Counted counted;
  for (std::size_t i = begin; i < lines.size(); ++i) add(counted, lines[i]["counters"]);
  return counted;
}

void OnEmulatedGpu::expect_compulsory_dram(const Counted& counted, const Work& work) {
  EXPECT_NEAR(counted.dram_read, work.bytes_read, 0.02 * work.bytes_read);
  EXPECT_NEAR(counted.dram_written, work.bytes_written, 0.02 * work.bytes_written);
  EXPECT_EQ(counted.launches, work.launches);
}

}  // namespace warpmeter
