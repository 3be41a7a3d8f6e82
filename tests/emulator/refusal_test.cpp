// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What is not emulated ends the launch with an error that names the opcode, the kernel and the
// line.
#include <ostream>

#include "tests/emulator/managed.h"
#include "tests/emulator/ptx_program.h"

namespace {

struct Refused {
  std::string target;
  std::string instruction;
};
void PrintTo(const Refused& r, std::ostream* out) { *out << r.instruction; }

class Refusals : public testing::TestWithParam<Refused> {};

TEST_P(Refusals, NameOpcodeKernelAndLine) {
  const auto& [target, instruction] = GetParam();
  const std::string opcode = instruction.substr(0, instruction.find(' '));
  const PtxProgram program(target, 1,
                           ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .b16 %h;\n.reg .pred p;\n"
                           "ld.param.u64 %rd0, [p0];\n" +
                               instruction);
  ASSERT_EQ(program.loaded(), cudaSuccess);
  Managed<std::uint32_t> data(64);
  testing::internal::CaptureStderr();
  const cudaError_t error = program.run(1, 32, {data.get()});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(error, cudaErrorNotSupported);
  EXPECT_NE(text.find(opcode), std::string::npos) << text;
  EXPECT_NE(text.find("kernel test, PTX line 11:"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, Refusals,
    testing::Values(
        Refused{"sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%rd0], 32;"},
        Refused{"sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r1, p;"},
        Refused{"sm_90", "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r0, [%rd0];"},
        Refused{"sm_90", "multimem.red.relaxed.gpu.global.add.u32 [%rd0], %r0;"},
        Refused{"sm_80", "vadd.u32.u32.u32 %r0, %r1, %r2;"},
        Refused{"sm_80", "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;"},
        Refused{"sm_90a",
                "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%r0, %r1}, %rd1, "
                "%rd2, %r3, 0, p, 1, 1, 0, 0;"},
        Refused{"sm_90a",
                "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_"
                "tx::bytes [%r0], [%rd0, {%r1, %r2, %r3}], [%r4], {%h};"},
        Refused{"sm_100a", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2];"},
        Refused{"sm_100a", "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r2], {%r0};"},
        Refused{"sm_100a",
                "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
                "bytes.b128 [%r0], [%r1];"}));

}  // namespace
