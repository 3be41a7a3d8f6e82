// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/decode/control.h"
#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"

namespace emulator {

void Decoder::emit(Frame& frame) {
  const ptx::Function& function = *frame.function;
  stack_.push_back(function.name);
  // Callees come first; code of the caller must be contiguous.
  emit_callees(function);
  frame.entry = static_cast<std::uint32_t>(program_.code.size());
  if (function.entry) program_.entry = frame.entry;
  for (const ptx::Instruction& in : function.code) {
    frame.starts.push_back(static_cast<std::uint32_t>(program_.code.size()));
    if (in.base() == "call") {
      emit_call(frame, in);
      continue;
    }
    Instr out;
    out.line = in.line;
    out.opcode = in.opcode;
    Builder builder(*this, frame, in, out);
    const Family family = find_family(in);
    if (family == nullptr) builder.unsupported();
    if (in.guard >= 0) {
      ptx::Operand guard;
      guard.kind = ptx::OperandKind::reg;
      guard.index = in.guard;
      out.guard = builder.use_predicate(guard);
      out.guard_negated = in.guard_negated;
    }
    family(builder);
    out.reads = static_cast<std::uint32_t>(program_.scoreboard.size());
    out.read_count = static_cast<std::uint16_t>(builder.reads_.size());
    out.write_count = static_cast<std::uint16_t>(builder.writes_.size());
    auto& scoreboard = program_.scoreboard;
    scoreboard.insert(scoreboard.end(), builder.reads_.begin(), builder.reads_.end());
    scoreboard.insert(scoreboard.end(), builder.writes_.begin(), builder.writes_.end());
    if (in.base() == "ret") out.a = frame.return_slot;
    program_.code.push_back(out);
  }
  // A label may stand behind the last instruction; a body may end without `ret`.
  frame.starts.push_back(static_cast<std::uint32_t>(program_.code.size()));
  Instr end;
  end.run = function.entry ? control::exit_lanes : control::return_lanes;
  end.op_class = OpClass::branch;
  end.a = frame.return_slot;
  end.opcode = "(end of function)";
  end.line = function.code.empty() ? 0 : function.code.back().line;
  program_.code.push_back(end);
  stack_.pop_back();
}

}  // namespace emulator
