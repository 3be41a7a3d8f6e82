// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <bit>

#include "emulator/decode/control.h"
#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"

namespace emulator {

using ptx::Operand;
using ptx::OperandKind;

void Builder::unsupported(std::string_view why) const {
  std::string text = fmt::format("kernel {}, PTX line {}: {} is not supported by the emulated GPU",
                                 decoder_.program_.name, in.line, in.opcode);
  if (!why.empty()) text += fmt::format(" ({})", why);
  throw Fault(cudaErrorNotSupported, text);
}

const Operand& Builder::operand(std::size_t i) const {
  if (i >= in.operands.size()) unsupported("too few operands");
  return in.operands[i];
}

std::int32_t Builder::def(const Operand& operand, int bytes) {
  if (operand.kind == OperandKind::none) return decoder_.slot(bytes);
  if (operand.kind != OperandKind::reg) unsupported("a destination that is no register");
  const std::int32_t offset = frame_.registers[static_cast<std::size_t>(operand.index)];
  writes_.push_back(decoder_.score(offset));
  return offset;
}

std::int32_t Builder::use(const Operand& operand, ptx::Type type) {
  const bool wide = type.bytes == 8;
  switch (operand.kind) {
    case OperandKind::reg: {
      const std::int32_t offset = frame_.registers[static_cast<std::size_t>(operand.index)];
      reads_.push_back(decoder_.score(offset));
      return offset;
    }
    case OperandKind::integer:
      return decoder_.constant(operand.bits, wide);
    case OperandKind::real32:
      return wide ? decoder_.constant(
                        std::bit_cast<std::uint64_t>(static_cast<double>(
                            std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))),
                        true)
                  : decoder_.constant(operand.bits, false);
    case OperandKind::real64:
      return wide ? decoder_.constant(operand.bits, true)
                  : decoder_.constant(std::bit_cast<std::uint32_t>(
                                          static_cast<float>(std::bit_cast<double>(operand.bits))),
                                      false);
    case OperandKind::special:
      return decoder_.special(operand.name, wide);
    case OperandKind::variable: {
      const Decoder::Place place = decoder_.place_of(frame_, operand);
      return decoder_.constant(place.offset, wide, place.dynamic);
    }
    default:
      unsupported("operand");
  }
}

std::int32_t Builder::use(const Operand& operand, int bytes) {
  return use(operand, ptx::Type{ptx::Kind::bits, static_cast<std::uint8_t>(bytes), {}});
}

std::int32_t Builder::def_predicate(const Operand& operand) {
  if (operand.kind == OperandKind::none) return decoder_.slot(0);
  return def(operand, 4);
}

std::int32_t Builder::use_predicate(const Operand& operand) {
  if (operand.kind != OperandKind::reg) unsupported("a predicate that is no register");
  return use(operand, 4);
}

bool Builder::wide(const Operand& operand) const {
  return operand.kind == OperandKind::reg &&
         frame_.function->registers[static_cast<std::size_t>(operand.index)].type.bytes == 8;
}

void Builder::address(const Operand& operand) {
  out.a = address_slot(operand, out.offset, out.wide_address, out.space);
}

std::int32_t Builder::address_slot(const Operand& operand, std::int64_t& offset, bool& is_wide,
                                   ptx::Space& space) {
  if (operand.kind != OperandKind::address) unsupported("an address is expected");
  const Operand& base = operand.parts[0];
  offset = static_cast<std::int64_t>(operand.bits);
  is_wide = true;
  if (base.kind == OperandKind::reg) {
    is_wide = wide(base);
    return use(base, 8);
  }
  if (base.kind == OperandKind::variable) {
    // The space of a parameter tells a kernel's from a function's, which live in local memory.
    if (base.index >= 0 && space == ptx::Space::param) {
      space = decoder_.place_of(frame_, base).space;
    }
  }
  return use(base, 8);
}

std::uint32_t Builder::extra(const std::vector<std::int32_t>& offsets) {
  auto& list = decoder_.program_.extra;
  const auto first = static_cast<std::uint32_t>(list.size());
  list.insert(list.end(), offsets.begin(), offsets.end());
  return first;
}

std::uint64_t Builder::immediate(const Operand& operand) const {
  if (operand.kind != OperandKind::integer) unsupported("a number is expected");
  return operand.bits;
}

void Builder::label(const Operand& operand) {
  decoder_.fixups_.push_back({decoder_.program_.code.size(), &frame_, in.scope, operand.name});
}

std::uint32_t Builder::jump_table(std::string_view name) {
  auto& table = decoder_.program_.jump_table;
  const auto first = static_cast<std::uint32_t>(table.size());
  const auto targets = frame_.function->branch_targets.find(name);
  if (targets == frame_.function->branch_targets.end()) unsupported("unknown branch targets");
  for (const std::string_view target : targets->second) {
    decoder_.fixups_.push_back({table.size(), &frame_, in.scope, target, true});
    table.push_back(0);
  }
  return first;
}

void Builder::standard(ptx::Type type) {
  out.dst = def(operand(0), type.bytes);
  if (operands() > 1) out.a = use(operand(1), type);
  if (operands() > 2) out.b = use(operand(2), type);
  if (operands() > 3) out.c = use(operand(3), type);
}

}  // namespace emulator
