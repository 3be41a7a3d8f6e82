// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/program.h"

namespace emulator {

bool stays_in_warp(const Instr& instr) {
  const auto is = [&instr](std::string_view base) {
    return instr.opcode == base ||
           (instr.opcode.starts_with(base) && instr.opcode[base.size()] == '.');
  };
  switch (instr.op_class) {
    case OpClass::imad:
    case OpClass::fp32:
    case OpClass::fp16:
    case OpClass::fp64:
    case OpClass::special_function:
    case OpClass::convert:
    case OpClass::clock:
      return true;
    case OpClass::alu:  // some instructions are of this class because they have no other
      for (const char* base : {"cp", "mbarrier", "fence", "wgmma", "bar", "barrier", "tcgen05",
                               "clusterlaunchcontrol", "griddepcontrol", "setmaxnreg"}) {
        if (is(base)) return false;
      }
      return true;
    case OpClass::move:
      return is("mov") || is("cvta");
    case OpClass::branch:
      return is("bra");
    case OpClass::mma_f16:
    case OpClass::mma_tf32:
    case OpClass::mma_int8:
    case OpClass::mma_fp8:
    case OpClass::mma_f64:
      return is("mma");
    default:
      return false;
  }
}

}  // namespace emulator
