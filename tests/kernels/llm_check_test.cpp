// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A kernel with a wrong result must never be timed.
#include <cmath>

#include "kernels/llm/attention.h"
#include "kernels/llm/check.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/kernel_case.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

enum class Damage { none, first, last, skipped };

// A real kernel whose execution leaves a small error behind: 2 % in one element (25 % in bf16), or
// no result at all.
class Broken : public Kernel {
 public:
  Broken(std::unique_ptr<Kernel> inner, Damage damage) : inner_(std::move(inner)), damage_(damage) {
    for (const Operand& operand : inner_->operands()) add(operand);  // shares the memory
  }
  void execute() override {
    if (damage_ == Damage::skipped) return;
    inner_->execute();
    for (const Operand& operand : operands()) {
      if (operand.role != Role::output || damage_ == Damage::none) continue;
      const std::int64_t at = damage_ == Damage::first ? 0 : operand.count - 1;
      if (operand.type == Element::bf16)
        operand.bf16()[at] = float_to_bf16(1.25f * bf16_to_float(operand.bf16()[at]));
      else
        operand.f32()[at] *= 1.02f;
    }
  }
  void verify() const override { inner_->verify(); }

 private:
  std::unique_ptr<Kernel> inner_;
  Damage damage_;
};

std::vector<std::unique_ptr<Kernel>> one_of_each(Element type) {
  std::vector<std::unique_ptr<Kernel>> kernels;
  kernels.push_back(make_gemm({40, 1040, 300, type}, 21));  // large enough to be sampled
  kernels.push_back(make_attention({3, 8, 2, 32, 70, type}, 22));
  kernels.push_back(make_softmax({20, 50, type}, 23));
  kernels.push_back(make_rms_norm({20, 50, type}, 24));
  kernels.push_back(make_swiglu({20, 50, type}, 25));
  kernels.push_back(make_gather({20, 50, 90, type}, 26));
  return kernels;
}

std::string error_with(Element type, std::size_t which, Damage damage) {
  try {
    KernelCase(1, Residency::cold, [&] {
      return std::make_unique<Broken>(std::move(one_of_each(type)[which]), damage);
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(KernelCheck, FindsDamageInEveryKernel) {
  for (const Element type : testable_types())
    for (std::size_t which = 0; which < one_of_each(type).size(); ++which) {
      SCOPED_TRACE(to_string(type) + " kernel " + std::to_string(which));
      EXPECT_EQ(error_with(type, which, Damage::none), "");
      for (const Damage damage : {Damage::first, Damage::last, Damage::skipped})
        EXPECT_EQ(error_with(type, which, damage).rfind("corrupt: ", 0), 0U);
    }
}

TEST(KernelCheck, FindsAWrongAttentionScale) {
  for (const Element type : testable_types()) {
    const AttentionShape shape = {2, 8, 2, 64, 100, type};
    for (const double scale : {1.0, 1.0 / 64, 1.1 / 8}) {
      const auto kernel = make_attention(shape, 31, scale);
      kernel->execute();
      EXPECT_THROW(kernel->verify(), std::runtime_error) << scale;
    }
  }
}

TEST(KernelCheck, FindsABlockOfResultsThatWasNotWritten) {
  const auto kernel = make_gemm({64, 2048, 64, Element::f32}, 41);
  kernel->execute();
  kernel->verify();
  kernel->operand("result").f32()[33 * 2048 + 777] = std::nanf("");  // hardly in the sample
  EXPECT_THROW(kernel->verify(), std::runtime_error);
}

TEST(KernelCheck, SamplesHoldTheEndsAndStayInRange) {
  EXPECT_EQ(sampled(3, 8, 1), (std::vector<std::int64_t>{0, 1, 2}));
  const std::vector<std::int64_t> chosen = sampled(1000, 8, 1);
  ASSERT_EQ(chosen.size(), 8U);
  EXPECT_EQ(chosen.front(), 0);
  EXPECT_EQ(chosen.back(), 999);
  EXPECT_NE(sampled(1000, 8, 2), chosen);
}

}  // namespace
}  // namespace warpmeter
