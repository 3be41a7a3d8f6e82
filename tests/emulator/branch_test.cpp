// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/managed.h"
#include "tests/emulator/ptx_program.h"

namespace {

TEST(IndexedBranch, TakesEachLaneToItsTarget) {
  Managed<std::uint32_t> out(64);
  const PtxProgram program(
      "sm_80", 1,
      ".reg .b32 %t, %i, %r;\n.reg .b64 %p, %off;\nld.param.u64 %p, [p0];\nmov.u32 %t, %tid.x;\n"
      "mul.wide.u32 %off, %t, 4;\nadd.u64 %p, %p, %off;\nand.b32 %i, %t, 3;\nmov.u32 %r, 0;\n"
      "TARGETS: .branchtargets ONE, TWO, THREE, ONE;\nbrx.idx %i, TARGETS;\n"
      "THREE: add.u32 %r, %r, 300;\nTWO: add.u32 %r, %r, 20;\nbra END;\n"
      "ONE: mov.u32 %r, 1;\nEND: st.global.u32 [%p], %r;\n");
  ASSERT_EQ(program.run(1, 64, {out.get()}), cudaSuccess);
  constexpr std::uint32_t want[] = {1, 20, 320, 1};
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], want[t % 4]) << t;
}

}  // namespace
