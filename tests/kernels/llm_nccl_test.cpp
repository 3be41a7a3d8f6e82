// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The all-reduce of NCCL, with a stand-in for it (stand_in_nccl.cpp) on two emulated GPUs.
#include <algorithm>

#include "cuda/device.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/library/nccl.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

class Nccl : public OnEmulatedGpu {};

// Its case verifies the sum before it times.
TEST_F(Nccl, SumsTheRanksInOneGroup) {
  std::string why;
  const Device device = find_cuda_devices(why).at(0);
  const std::vector<Benchmark> table = cuda_collective_kernels();
  const auto row = std::find_if(table.begin(), table.end(), [](const Benchmark& candidate) {
    return candidate.id == "kernel.all_reduce.nccl";
  });
  ASSERT_NE(row, table.end());
  for (const char* type : {"bf16", "f32"}) {
    const Parameters point = {{"size", 4096.0}, {"ranks", 2.0}, {"type", type}};
    ASSERT_EQ(row->unsupported(device, point), std::nullopt);
    const auto all_reduce = row->make(device, point);
    const Json said = all_reduce->conditions();
    EXPECT_EQ(said["implementation"], "NCCL");
    EXPECT_EQ(said["library_version"], 22999);
    EXPECT_EQ(said["checked_results"], 2 * 4096 / (std::string(type) == "f32" ? 4 : 2));
  }
}

TEST_F(Nccl, SaysWhyItDoesNotStart) {
  try {
    const NcclAllReduce five({64, 5, Element::f32});
    FAIL() << "no refusal";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "ncclCommInitAll: error of the stand-in");
  }
}

}  // namespace
}  // namespace warpmeter
