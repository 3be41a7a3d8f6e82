// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Calls: of functions by name and through pointers, and recursive ones.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/control.h"
#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

// A recursive call moves them away while pointers to them may be around.
void refuse_local_arrays(Builder& builder, const ptx::Function& function) {
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::local) {
      builder.unsupported("recursion through a function with arrays of its own");
    }
  }
}

// The operands of a call: results, callee, arguments.
struct Call {
  const ptx::Operand* callee;
  const ptx::Operand* arguments = nullptr;
  const ptx::Operand* results = nullptr;
};
[[noreturn]] void malformed_call(const ptx::Instruction& in) {
  throw Fault(cudaErrorInvalidPtx, fmt::format("PTX line {}: malformed call", in.line));
}

Call parts_of(const ptx::Instruction& in) {
  Call call{};
  std::size_t at = 0;
  if (in.operands.empty()) malformed_call(in);
  if (in.operands[0].kind == ptx::OperandKind::list) call.results = &in.operands[at++];
  if (at == in.operands.size()) malformed_call(in);
  call.callee = &in.operands[at++];
  if (at < in.operands.size() && in.operands[at].kind == ptx::OperandKind::list) {
    call.arguments = &in.operands[at];
  }
  return call;
}

bool same_sizes(const std::vector<ptx::Variable>& formal, const ptx::Operand* actual,
                const ptx::Function& caller) {
  const std::size_t count = actual == nullptr ? 0 : actual->parts.size();
  if (formal.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const int index = actual->parts[i].index;
    if (index < 0 || caller.variables[static_cast<std::size_t>(index)].size != formal[i].size) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Decoder::on_stack(std::string_view function) const {
  return std::find(stack_.begin(), stack_.end(), function) != stack_.end();
}

bool Decoder::could_be_called(const ptx::Function& function, const ptx::Function& caller,
                              const ptx::Instruction& in) const {
  const Call call = parts_of(in);
  return !function.entry && function.defined && !on_stack(function.name) &&
         same_sizes(function.params, call.arguments, caller) &&
         same_sizes(function.results, call.results, caller);
}

void Decoder::emit_callees(const ptx::Function& caller) {
  const auto once = [this](const ptx::Function& function) {
    Frame& frame = frame_of(function.name);
    if (frame.starts.empty()) emit(frame);
  };
  for (const ptx::Instruction& in : caller.code) {
    if (in.base() != "call") continue;
    const ptx::Operand& callee = *parts_of(in).callee;
    if (callee.kind == ptx::OperandKind::reg) {
      for (const auto& [name, function] : module_.functions) {
        if (could_be_called(function, caller, in)) once(function);
      }
      continue;
    }
    const auto found = module_.functions.find(callee.name);
    if (found == module_.functions.end() || !found->second.defined) continue;
    if (!on_stack(found->second.name)) once(found->second);
  }
}

// Fills what the handlers of calls look up, when all functions are there.
void Decoder::list_calls() {
  for (const auto& [name, frame] : frames_) {
    const ptx::Function& function = *frame.function;
    if (function.entry) continue;
    const auto slot_of = [&frame = frame](std::size_t variable, const ptx::Variable& what) {
      return ParamSlot{static_cast<std::uint32_t>(frame.variables[variable].offset),
                       static_cast<std::uint32_t>(what.size)};
    };
    if (calls_pointers_) {
      Callable callable;
      callable.address = module_.function_address(name).value_or(0);
      callable.name = function.name;
      callable.entry = frame.entry;
      callable.return_slot = frame.return_slot;
      for (std::size_t i = 0; i < function.params.size(); ++i) {
        callable.params.push_back(slot_of(i, function.params[i]));
      }
      for (std::size_t i = 0; i < function.results.size(); ++i) {
        callable.results.push_back(slot_of(function.params.size() + i, function.results[i]));
      }
      program_.callables.push_back(std::move(callable));
    }
    if (!recurses_) continue;
    SavedState& saved = program_.saved;
    saved.registers.push_back({frame.return_slot, 4});
    saved.bytes += 4;
    for (std::size_t r = 0; r < function.registers.size(); ++r) {
      const ptx::Type type = function.registers[r].type;
      const std::uint32_t bytes =
          type.kind == ptx::Kind::pred ? 0 : std::max<std::uint32_t>(type.bytes, 4);
      saved.registers.push_back({frame.registers[r], bytes});
      saved.bytes += std::max(bytes, 1u);
    }
    for (std::size_t v = 0; v < function.variables.size(); ++v) {
      if (frame.variables[v].space != ptx::Space::local) continue;
      saved.locals.push_back(slot_of(v, function.variables[v]));
      saved.bytes += saved.locals.back().size;
    }
  }
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
  const Call parts = parts_of(in);
  const ptx::Operand& callee = *parts.callee;
  const ptx::Operand* results = parts.results != nullptr ? parts.results : &none;
  const ptx::Operand* params = parts.arguments != nullptr ? parts.arguments : &none;
  Instr call;
  call.line = in.line;
  call.opcode = in.opcode;
  call.op_class = OpClass::branch;
  Builder builder(*this, frame, in, call);
  if (in.guard >= 0) builder.unsupported("a predicated call");
  if (callee.kind == ptx::OperandKind::reg) {
    call.a = builder.use(callee, 8);
    return emit_indirect_call(frame, in, call, *params, *results);
  }
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
  const bool recursive = on_stack(function.name);
  Instr state = call;  // what saves and restores it
  state.op_class = OpClass::move;
  if (recursive) {
    refuse_local_arrays(builder, function);
    if (results->parts.size() > 1) builder.unsupported("a recursive call with several results");
    recurses_ = true;
    state.run = control::save_state;
    program_.code.push_back(state);
  }
  for (std::size_t i = 0; i < params->parts.size(); ++i) {
    emit_copy(place_of(frame, params->parts[i]), target.variables[i], function.params.at(i).size,
              in.line);
  }
  call.run = control::call;
  call.dst = target.return_slot;
  call_fixups_.push_back({program_.code.size(), function.name});
  program_.code.push_back(call);
  if (recursive) {
    state.run = control::restore_state;
    if (!results->parts.empty()) {
      const Place from = target.variables[function.params.size()];
      state.offset = static_cast<std::int64_t>(from.offset);
      state.extra = static_cast<std::uint32_t>(function.results[0].size);
      state.target = static_cast<std::uint32_t>(place_of(frame, results->parts[0]).offset);
    }
    program_.code.push_back(state);
    return;
  }
  for (std::size_t i = 0; i < results->parts.size(); ++i) {
    emit_copy(target.variables[function.params.size() + i], place_of(frame, results->parts[i]),
              function.results.at(i).size, in.line);
  }
}

void Decoder::emit_indirect_call(Frame& frame, const ptx::Instruction& in, Instr call,
                                 const ptx::Operand& params, const ptx::Operand& results) {
  calls_pointers_ = true;
  Builder builder(*this, frame, in, call);
  if (results.parts.size() > 1) builder.unsupported("a call with several results");
  std::vector<std::int32_t> places{static_cast<std::int32_t>(params.parts.size())};
  for (const ptx::Operand& param : params.parts) {
    places.push_back(static_cast<std::int32_t>(place_of(frame, param).offset));
  }
  call.extra = builder.extra(places);
  call.dst = slot(4);
  call.reads = static_cast<std::uint32_t>(program_.scoreboard.size());
  call.read_count = 1;
  program_.scoreboard.push_back(score(call.a));
  call.run = control::call_indirect;
  program_.code.push_back(call);
  if (results.parts.empty()) return;
  Instr collect = call;
  collect.read_count = 0;
  collect.op_class = OpClass::move;
  collect.run = control::collect_result;
  collect.target = static_cast<std::uint32_t>(place_of(frame, results.parts[0]).offset);
  program_.code.push_back(collect);
}

}  // namespace emulator
