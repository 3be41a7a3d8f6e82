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

[[noreturn]] void malformed_call(const ptx::Instruction& in) {
  throw Fault(cudaErrorInvalidPtx, fmt::format("PTX line {}: malformed call", in.line));
}

}  // namespace

void Decoder::emit(Frame& frame) {
  const ptx::Function& function = *frame.function;
  if (std::find(stack_.begin(), stack_.end(), function.name) != stack_.end()) {
    throw Fault(cudaErrorNotSupported,
                fmt::format("{}: recursion through {} is not supported by the emulated GPU",
                            program_.name, function.name));
  }
  stack_.push_back(function.name);
  // Callees come first, so that their entries are known; code of the caller must be contiguous.
  for (const ptx::Instruction& in : function.code) {
    if (in.base() != "call") continue;
    for (const ptx::Operand& operand : in.operands) {
      const auto callee = module_.functions.find(operand.name);
      if (operand.kind != ptx::OperandKind::variable || callee == module_.functions.end()) continue;
      if (!callee->second.defined) continue;
      Frame& callee_frame = frame_of(callee->second.name);
      if (callee_frame.starts.empty()) emit(callee_frame);
      break;
    }
  }
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

void Decoder::emit_copy(Place from, Place to, std::uint64_t bytes, std::uint32_t line) {
  Instr copy;
  copy.run = control::copy_local;
  copy.op_class = OpClass::move;
  copy.opcode = "call";
  copy.line = line;
  copy.offset = static_cast<std::int64_t>(from.offset);
  copy.target = static_cast<std::uint32_t>(to.offset);
  copy.extra = static_cast<std::uint32_t>(bytes);
  program_.code.push_back(copy);
}

void Decoder::emit_call(Frame& frame, const ptx::Instruction& in) {
  const ptx::Operand none;
  if (in.operands.empty()) malformed_call(in);
  const ptx::Operand* results = &none;
  std::size_t at = 0;
  if (in.operands[0].kind == ptx::OperandKind::list) results = &in.operands[at++];
  if (at == in.operands.size()) malformed_call(in);
  const ptx::Operand& callee = in.operands[at++];
  const ptx::Operand* params = at < in.operands.size() ? &in.operands[at] : &none;
  Instr call;
  call.line = in.line;
  call.opcode = in.opcode;
  call.op_class = OpClass::branch;
  Builder builder(*this, frame, in, call);
  if (in.guard >= 0) builder.unsupported("a predicated call");
  if (callee.kind != ptx::OperandKind::variable) builder.unsupported("a call through a pointer");
  if (control::is_host_call(callee.name)) {
    std::vector<std::int32_t> places;
    for (const ptx::Operand& param : params->parts) {
      places.push_back(static_cast<std::int32_t>(place_of(frame, param).offset));
    }
    call.extra = builder.extra(places);
    call.target = results->parts.empty()
                      ? 0
                      : static_cast<std::uint32_t>(place_of(frame, results->parts[0]).offset);
    call.run = control::host_call(callee.name);
    program_.code.push_back(call);
    return;
  }
  Frame& target = frame_of(callee.name);
  const ptx::Function& function = *target.function;
  if (params->parts.size() > function.params.size() ||
      results->parts.size() > function.results.size()) {
    malformed_call(in);
  }
  for (std::size_t i = 0; i < params->parts.size(); ++i) {
    emit_copy(place_of(frame, params->parts[i]), target.variables[i], function.params.at(i).size,
              in.line);
  }
  call.run = control::call;
  call.dst = target.return_slot;
  call_fixups_.push_back({program_.code.size(), function.name});
  program_.code.push_back(call);
  for (std::size_t i = 0; i < results->parts.size(); ++i) {
    emit_copy(target.variables[function.params.size() + i], place_of(frame, results->parts[i]),
              function.results.at(i).size, in.line);
  }
}

}  // namespace emulator
