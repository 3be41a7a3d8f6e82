// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "emulator/decode/control.h"
#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"

namespace emulator {

namespace {

Effect effect_of(const ptx::Instruction& in, const Instr& decoded) {
  const std::string_view base = in.base();
  // Parameters of calls lie in local memory, to which calls copy them.
  const bool param = in.parts.size() > 1 && in.parts[1].starts_with("param");
  if (base == "ld" && param) return Effect::none;
  if (base == "ld" || base == "ldu" || base == "ldmatrix") return Effect::read;
  if (base == "st" || base == "stmatrix") return Effect::write;
  if (base == "atom" || base == "red") return in.has("exch") ? Effect::other : Effect::update;
  if (base == "cp" && decoded.op_class == OpClass::async_copy) return Effect::copy;
  if (base.starts_with("prefetch") || base == "applypriority") return Effect::none;
  return Effect::other;
}

}  // namespace

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
    // Damaged PTX: parts of the opcode or of an operand that are not there.
    try {
      if (family != decode_control && in.parts.size() < 2) builder.unsupported("no type");
      family(builder);
    } catch (const std::out_of_range&) {
      builder.unsupported("malformed");
    }
    if (out.run == nullptr) builder.unsupported();
    out.effect = effect_of(in, out);
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
