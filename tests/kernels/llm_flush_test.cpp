// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cstring>
#include <set>

#include "kernels/llm/attention.h"
#include "kernels/llm/flush.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"
#include "tests/kernels/llm_support.h"

namespace warpmeter {
namespace {

std::uintptr_t line_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) / cache_line;
}

TEST(Flush, VisitsEveryLineOfARangeOnceSharedAmongTheParts) {
  alignas(64) std::byte memory[1024];
  for (const std::size_t offset : {0, 1, 63, 64})
    for (const std::size_t size : {0, 1, 2, 63, 64, 65, 128, 500})
      for (const std::size_t parts : {1, 2, 3, 7}) {
        const Bytes range(memory + offset, size);
        std::multiset<std::uintptr_t> visited;
        for (std::size_t part = 0; part < parts; ++part)
          for_each_line(range, part, parts,
                        [&](const void* line) { visited.insert(line_of(line)); });
        std::multiset<std::uintptr_t> expected;
        std::uintptr_t last = 0;
        for (const std::byte& byte : range)
          if (line_of(&byte) != last) expected.insert(last = line_of(&byte));
        EXPECT_EQ(visited, expected) << offset << " " << size << " " << parts;
      }
}

TEST(Flush, WritesDirtyLinesBack) {
  std::vector<std::byte> memory(100'000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i % 251);
  const std::vector<std::byte> copy = memory;
  const Bytes ranges[] = {Bytes(memory).subspan(3, 50'000), Bytes(memory).subspan(50'003)};
  flush_lines(ranges);
  EXPECT_EQ(memory, copy);
}

// All bytes of all operands are in what `cold` flushes; for the table, those of the rows read.
TEST(Flush, CoversAllOperandsOfEveryKernel) {
  std::vector<std::unique_ptr<Kernel>> kernels;
  kernels.push_back(make_gemm({3, 40, 50, Element::f32}, 1));
  kernels.push_back(make_attention({2, 4, 2, 16, 9, Element::f32}, 2));
  kernels.push_back(make_softmax({3, 40, Element::f32}, 3));
  kernels.push_back(make_rms_norm({3, 40, Element::f32}, 4));
  kernels.push_back(make_swiglu({3, 40, Element::f32}, 5));
  kernels.push_back(make_gather({3, 40, 7, Element::f32}, 6));
  for (const auto& kernel : kernels) {
    std::set<std::uintptr_t> lines;
    for (const Bytes& range : kernel->touched())
      for_each_line(range, 0, 1, [&](const void* line) { lines.insert(line_of(line)); });
    for (const Operand& operand : kernel->operands()) {
      if (operand.name == "table") continue;
      for (const std::byte& byte : operand.memory.bytes())
        ASSERT_TRUE(lines.contains(line_of(&byte))) << operand.name;
    }
  }
  const Kernel& gather = *kernels.back();
  std::set<std::uintptr_t> lines;
  for (const Bytes& range : gather.touched())
    for_each_line(range, 0, 1, [&](const void* line) { lines.insert(line_of(line)); });
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 40; ++c)
      EXPECT_TRUE(lines.contains(
          line_of(gather.operand("table").f32() + gather.operand("ids").i32()[r] * 40 + c)));
}

}  // namespace
}  // namespace warpmeter
