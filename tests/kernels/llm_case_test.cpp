// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <omp.h>
#include <sched.h>

#include <set>

#include "core/error.h"
#include "kernels/llm/kernel_case.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/table.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

std::vector<int> allowed() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  return cpus;
}

TEST(BoundTeam, HasOneCoreForEachThreadAndGivesThemBack) {
  const std::vector<int> before = allowed();
  const int threads = static_cast<int>(usable_cpus().size());
  {
    const BoundTeam team(threads);
    std::set<int> cpus;
    EXPECT_EQ(omp_get_max_threads(), threads);
#pragma omp parallel
    {
      const std::vector<int> mine = allowed();
#pragma omp critical
      {
        EXPECT_EQ(mine.size(), 1U);
        cpus.insert(mine.begin(), mine.end());
      }
    }
    EXPECT_EQ(cpus, std::set<int>(usable_cpus().begin(), usable_cpus().end()));
  }
  EXPECT_EQ(allowed(), before);
#pragma omp parallel num_threads(threads)
  {
    const std::vector<int> mine = allowed();
#pragma omp critical
    EXPECT_EQ(mine, before);
  }
}

TEST(BoundTeam, RefusesMoreThreadsThanCores) {
  EXPECT_THROW(BoundTeam(0), InputError);
  EXPECT_THROW(BoundTeam(static_cast<int>(usable_cpus().size()) + 1), InputError);
}

// Counts what the case asks of the kernel.
struct Calls {
  int executions = 0, checks = 0;
};
class Probe : public Kernel {
 public:
  explicit Probe(Calls& calls) : calls_(calls) { add({"y", Role::output, Element::f32, 1000}); }
  void execute() override { ++calls_.executions; }
  void verify() const override {
    ++calls_.checks;
    EXPECT_EQ(calls_.executions, 1);                        // before any timing
    EXPECT_NE(operand("y").at(999), operand("y").at(999));  // NaN: poisoned before execution
  }

 private:
  Calls& calls_;
};

TEST(KernelCase, HotSamplesTakeAMillisecondAndGiveTheTimeOfOneExecution) {
  Calls calls;
  KernelCase test(1, Residency::hot, [&] { return std::make_unique<Probe>(calls); });
  EXPECT_EQ(calls.checks, 1);
  (void)test.sample();  // may still raise the number of executions
  const int before = calls.executions;
  const Sample sample = test.sample();
  const double executions = test.conditions()["executions_per_sample"];
  EXPECT_GE(sample.elapsed_s, 1e-3);
  EXPECT_DOUBLE_EQ(sample.value * executions, sample.elapsed_s);
  EXPECT_GE(calls.executions - before, executions);
}

TEST(KernelCase, ColdSamplesAreSingleExecutions) {
  Calls calls;
  KernelCase test(1, Residency::cold, [&] { return std::make_unique<Probe>(calls); });
  for (int i = 0; i < 5; ++i) {
    const Sample sample = test.sample();
    EXPECT_EQ(sample.value, sample.elapsed_s);
  }
  EXPECT_EQ(calls.executions, 1 + 5);
}

TEST(KernelCase, HasFreshInputsEachTime) { EXPECT_NE(next_seed(), next_seed()); }

TEST(LlmTable, RunsEveryQuickPoint) {
  for (const Benchmark& benchmark : host_llm_kernels())
    for (const Parameters& point : benchmark.points(Device{}, Effort::quick)) {
      if (benchmark.unsupported(Device{}, point)) continue;
      const auto test = benchmark.make(Device{}, point);
      EXPECT_GT(test->sample().value, 0);
      const Json conditions = test->conditions();
      EXPECT_TRUE(conditions.contains("implementation")) << benchmark.id;
      EXPECT_GT(conditions["checked_results"], 0);
    }
}

TEST(LlmTable, SaysWhyAPointIsUnsupported) {
  EXPECT_EQ(unsupported_type(Element::f32, dnnl::cpu_isa::avx2), std::nullopt);
  EXPECT_EQ(unsupported_type(Element::bf16, dnnl::cpu_isa::avx512_core_bf16), std::nullopt);
  EXPECT_EQ(unsupported_type(Element::bf16, dnnl::cpu_isa::avx512_core_amx), std::nullopt);
  for (const auto isa : {dnnl::cpu_isa::sse41, dnnl::cpu_isa::avx2, dnnl::cpu_isa::avx512_core,
                         dnnl::cpu_isa::avx512_core_vnni})
    EXPECT_NE(unsupported_type(Element::bf16, isa).value_or("").find("AVX512_BF16"),
              std::string::npos);
  const Benchmark softmax = host_llm_kernels()[3];
  Parameters point = softmax.points(Device{}, Effort::quick)[0];
  EXPECT_EQ(softmax.unsupported(Device{}, point), std::nullopt);
  point["rows"] = 1e9;
  EXPECT_NE(softmax.unsupported(Device{}, point).value_or("").find("memory"), std::string::npos);
}

TEST(LlmTable, RefusesPointsThatAreNotShapes) {
  const Benchmark softmax = host_llm_kernels()[3];
  const Parameters good = softmax.points(Device{}, Effort::quick)[0];
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Scalar>>{{"rows", 0.0},
                                                   {"rows", 1.5},
                                                   {"rows", "many"},
                                                   {"type", "f16"},
                                                   {"residency", "warm"},
                                                   {"threads", 1e6}}) {
    Parameters point = good;
    point[name] = value;
    EXPECT_THROW(softmax.make(Device{}, point), InputError) << name;
  }
}

}  // namespace
}  // namespace warpmeter
