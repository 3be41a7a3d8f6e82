// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/decode/control.h"
#include "emulator/machine/fault.h"

namespace emulator {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return to <= 1 ? value : (value + to - 1) / to * to;
}

}  // namespace

Program Decoder::decode(std::string_view entry) {
  program_.name = entry;
  Frame& frame = frame_of(entry);
  const ptx::Function& function = *frame.function;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Variable& param = function.params[i];
    offset = round_up(offset, param.align);
    frame.variables[i] = {ptx::Space::param, offset};
    program_.params.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(param.size)});
    offset += param.size;
  }
  program_.param_bytes = static_cast<std::uint32_t>(offset);
  emit(frame);
  if (function.max_threads[0] != 0) {
    program_.max_threads =
        function.max_threads[0] * function.max_threads[1] * function.max_threads[2];
  }
  program_.max_registers = function.max_registers;
  if (function.max_threads[0] != 0 || function.required_threads[0] != 0) {
    program_.min_blocks = std::max(function.min_blocks, 1u);
  }
  program_.required_size = function.required_threads[0] != 0;
  std::copy_n(function.required_threads.begin(), 3, program_.required);
  std::copy_n(function.cluster.begin(), 3, program_.cluster);
  if (program_.required_size) {
    program_.max_threads = program_.required[0] * program_.required[1] * program_.required[2];
  }
  finish();
  return std::move(program_);
}

Decoder::Frame& Decoder::frame_of(std::string_view name) {
  const auto found = frames_.find(name);
  if (found != frames_.end()) return found->second;
  const auto function = module_.functions.find(name);
  if (function == module_.functions.end() || !function->second.defined) {
    throw Fault(cudaErrorInvalidDeviceFunction,
                fmt::format("the PTX defines no function {}", name));
  }
  Frame& frame = frames_[function->second.name];
  frame.function = &function->second;
  layout(frame);
  return frame;
}

void Decoder::layout(Frame& frame) {
  const ptx::Function& function = *frame.function;
  for (const ptx::Register& reg : function.registers) {
    frame.registers.push_back(slot(reg.type.kind == ptx::Kind::pred ? 0 : reg.type.bytes));
    score(frame.registers.back());
  }
  frame.return_slot = slot(4);
  frame.has_wgmma = std::any_of(function.code.begin(), function.code.end(),
                                [](const ptx::Instruction& in) { return in.base() == "wgmma"; });
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::shared) {
      std::uint64_t at = round_up(program_.shared_bytes, variable.align);
      program_.shared_bytes = static_cast<std::uint32_t>(at + variable.size);
      frame.variables.push_back({ptx::Space::shared, at});
    } else {
      const std::uint64_t at = round_up(program_.local_bytes, std::max(variable.align, 8u));
      program_.local_bytes = static_cast<std::uint32_t>(at + variable.size);
      frame.variables.push_back({ptx::Space::local, at});
    }
  }
}

// 0 bytes: a predicate.
std::int32_t Decoder::slot(int bytes) {
  const std::int32_t size = bytes == 0 ? 4 : bytes <= 4 ? 128 : 32 * bytes;
  const std::int32_t align = bytes == 0 ? 4 : 64;
  const auto at = static_cast<std::int32_t>(
      round_up(static_cast<std::uint64_t>(program_.file_bytes), static_cast<std::uint64_t>(align)));
  program_.file_bytes = at + size;
  return at;
}

std::uint16_t Decoder::score(std::int32_t offset) {
  const auto [found, added] =
      scores_.try_emplace(offset, static_cast<std::uint16_t>(scores_.size()));
  if (added && scores_.size() > 0xffff) {
    throw Fault(cudaErrorInvalidPtx, fmt::format("{}: over 65535 registers", program_.name));
  }
  return found->second;
}

// Constants get their final places in finish(), because their region must be contiguous; until then
// an operand holds -2 - index.
std::int32_t Decoder::constant(std::uint64_t bits, bool wide, bool dynamic) {
  const Constant key{wide ? bits : bits & 0xffffffffu, wide, dynamic};
  const auto [found, added] =
      constants_.try_emplace(key, -2 - static_cast<std::int32_t>(constants_.size()));
  return found->second;
}

std::int32_t Decoder::special(std::string_view name, bool wide) {
  const Special which = find_special(name);
  if (which == Special::none) {
    throw Fault(cudaErrorInvalidPtx, fmt::format("unsupported special register {}", name));
  }
  const auto [found, added] = special_slots_.try_emplace({which, wide}, 0);
  if (added) {
    found->second = slot(wide ? 8 : 4);
    program_.specials.push_back({found->second, which, wide});
  }
  return found->second;
}

Decoder::Place Decoder::module_place(std::string_view name) {
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.name != name) continue;
    if (variable.space != ptx::Space::shared) break;
    if (variable.external) {
      dynamic_shared_ = true;
      dynamic_align_ = std::max(dynamic_align_, variable.align);
      return {ptx::Space::shared, 0, true};
    }
    const auto [found, added] = shared_places_.try_emplace(variable.name, 0);
    if (added) {
      found->second = round_up(program_.shared_bytes, variable.align);
      program_.shared_bytes = static_cast<std::uint32_t>(found->second + variable.size);
    }
    return {ptx::Space::shared, found->second};
  }
  if (const auto address = symbols_(name)) return {ptx::Space::global, *address};
  if (const auto address = module_.function_address(name)) return {ptx::Space::global, *address};
  throw Fault(cudaErrorInvalidPtx, fmt::format("{}: unknown symbol {}", program_.name, name));
}

Decoder::Place Decoder::place_of(const Frame& frame, const ptx::Operand& operand) {
  if (operand.kind != ptx::OperandKind::variable) {
    throw Fault(cudaErrorInvalidPtx, fmt::format("{}: a variable is expected", program_.name));
  }
  Place place = operand.index >= 0 ? frame.variables[static_cast<std::size_t>(operand.index)]
                                   : module_place(operand.name);
  place.offset += operand.bits;
  return place;
}

void Decoder::finish() {
  for (const Fixup& fixup : fixups_) {
    const std::uint32_t ptx = fixup.frame->function->label(fixup.scope, fixup.label);
    const std::uint32_t code = fixup.frame->starts[ptx];
    (fixup.table ? program_.jump_table[fixup.code] : program_.code[fixup.code].target) = code;
  }
  for (const auto& [code, name] : call_fixups_) program_.code[code].target = frames_.at(name).entry;
  list_calls();
  const std::uint64_t dynamic_at = round_up(program_.shared_bytes, dynamic_align_);
  if (dynamic_shared_) program_.shared_bytes = static_cast<std::uint32_t>(dynamic_at);
  program_.constants_at = static_cast<std::int32_t>(round_up(program_.file_bytes, 64));
  std::vector<std::int32_t> places(constants_.size());
  for (const auto& [constant, index] : constants_) {
    const std::size_t begin = round_up(program_.constants.size(), 64);
    std::uint64_t bits = constant.bits;
    if (constant.dynamic) bits += dynamic_at;
    const std::size_t size = constant.wide ? 8 : 4;
    program_.constants.resize(begin + 32 * size);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::memcpy(program_.constants.data() + begin + lane * size, &bits, size);
    }
    places[static_cast<std::size_t>(-2 - index)] =
        program_.constants_at + static_cast<std::int32_t>(begin);
  }
  program_.file_bytes =
      program_.constants_at + static_cast<std::int32_t>(program_.constants.size());
  const auto patch = [&places](std::int32_t& offset) {
    if (offset <= -2) offset = places[static_cast<std::size_t>(-2 - offset)];
  };
  for (Instr& instr : program_.code) {
    instr.pipe = pipe_of(instr.op_class);
    instr.alone = stays_in_warp(instr);
    for (std::int32_t* offset : {&instr.a, &instr.b, &instr.c, &instr.d}) patch(*offset);
  }
  for (std::int32_t& offset : program_.extra) patch(offset);
  program_.registers = static_cast<std::uint32_t>(scores_.size());
}

}  // namespace emulator
