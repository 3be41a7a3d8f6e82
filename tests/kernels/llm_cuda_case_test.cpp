// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// How a point is timed: eager launches and CUDA graphs, against the planted times of the emulated
// GPU between two kernels (emulator/chips/tiny.json: overhead).
#include <algorithm>

#include "core/error.h"
#include "cuda/device.h"
#include "kernels/llm/cuda/device_kernel_case.h"
#include "kernels/llm/cuda/table.h"
#include "tests/kernels/llm_cuda_support.h"

namespace warpmeter {
namespace {

constexpr double dependent_s = 1000e-9, graph_node_s = 600e-9, event_s = 32e-9;

class KernelCases : public OnEmulatedGpu {
 protected:
  struct Timed {
    double value = 0;
    int executions = 0;
  };

  static Timed time(const std::string& residency, const std::string& launch) {
    std::string why;
    const Device device = find_cuda_devices(why).at(0);
    const std::vector<Benchmark> table = cuda_llm_kernels();
    const auto row = std::find_if(table.begin(), table.end(), [](const Benchmark& candidate) {
      return candidate.id == "kernel.swiglu";
    });
    const auto kernel = row->make(device, {{"rows", 4.0},
                                           {"columns", 1024.0},
                                           {"type", "bf16"},
                                           {"residency", residency},
                                           {"launch", launch}});
    Timed timed;
    timed.value = kernel->sample().value;
    timed.executions = kernel->conditions().at("executions_per_sample").get<int>();
    return timed;
  }
};

// Of N executions N - 1 follow another one; in both modes the first follows an event.
TEST_F(KernelCases, DifferByTheTimeBetweenNodesAndBetweenLaunches) {
  const Timed eager = time("hot", "eager");
  const Timed graph = time("hot", "graph");
  ASSERT_EQ(eager.executions, graph.executions);
  ASSERT_GE(eager.executions, 10);
  const double n = eager.executions;
  const double expected = (dependent_s - graph_node_s) * (n - 1) / n;
  EXPECT_NEAR(eager.value - graph.value, expected, 2 * event_s / n + 0.01 * expected);
}

TEST_F(KernelCases, AreAlikeForOneColdExecution) {
  const Timed eager = time("cold", "eager");
  const Timed graph = time("cold", "graph");
  EXPECT_EQ(eager.executions, 1);
  EXPECT_EQ(graph.executions, 1);
  EXPECT_NEAR(eager.value, graph.value, 1.01 * event_s);
}

TEST_F(KernelCases, RefuseOtherWaysOfLaunching) {
  EXPECT_THROW(parse_launch_mode("fast"), InputError);
  EXPECT_EQ(parse_launch_mode("graph"), LaunchMode::graph);
}

}  // namespace
}  // namespace warpmeter
