// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/machine/program.h"
#include "emulator/ptx/module.h"

namespace emulator {

// The address of a .global or .const variable of the module on the device.
using SymbolAddress = std::function<std::optional<std::uint64_t>(std::string_view)>;

// Turns an entry and the functions that it calls into a Program. Registers of all functions have
// places of their own, so that calls need no stack; recursion is refused.
class Decoder {
 public:
  Decoder(const ptx::Module& module, SymbolAddress symbols)
      : module_(module), symbols_(std::move(symbols)) {}
  // Throws Fault: no such entry, an unsupported instruction (with its text, kernel and line).
  Program decode(std::string_view entry);

 private:
  friend class Builder;
  struct Place {
    ptx::Space space = ptx::Space::local;
    std::uint64_t offset = 0;
    bool dynamic = false;  // from the begin of dynamic shared memory
  };
  struct Frame {
    const ptx::Function* function = nullptr;
    std::vector<std::int32_t> registers;  // offsets
    std::vector<Place> variables;
    std::vector<std::uint32_t> starts;  // of each PTX instruction in the code
    std::int32_t return_slot = -1;
    std::uint32_t entry = 0;
    bool has_wgmma = false;
  };
  struct Constant {
    std::uint64_t bits;
    bool wide;
    bool dynamic;
    auto operator<=>(const Constant&) const = default;
  };
  struct Fixup {
    std::size_t code;
    const Frame* frame;
    int scope;
    std::string_view label;
    bool table = false;  // code is an index of the jump table
  };

  Frame& frame_of(std::string_view function);
  void layout(Frame& frame);
  void emit(Frame& frame);
  void emit_callees(const ptx::Function& caller);
  void emit_call(Frame& frame, const ptx::Instruction& in);
  void emit_indirect_call(Frame& frame, const ptx::Instruction& in, Instr call,
                          const ptx::Operand& params, const ptx::Operand& results);
  bool on_stack(std::string_view function) const;
  bool could_be_called(const ptx::Function& function, const ptx::Function& caller,
                       const ptx::Instruction& call) const;
  void list_calls();
  void emit_copy(Place from, Place to, std::uint64_t bytes, std::uint32_t line);
  void emit_extern_call(Frame& frame, const ptx::Instruction& in, std::string_view name);
  Place place_of(const Frame& frame, const ptx::Operand& operand);
  Place module_place(std::string_view name);
  std::int32_t slot(int bytes);
  std::int32_t constant(std::uint64_t bits, bool wide, bool dynamic = false);
  std::int32_t special(std::string_view name, bool wide);
  std::uint16_t score(std::int32_t offset);
  void finish();

  const ptx::Module& module_;
  SymbolAddress symbols_;
  Program program_;
  std::map<std::string_view, Frame> frames_;
  std::vector<std::string_view> stack_;         // of functions being decoded, to find recursion
  std::map<Constant, std::int32_t> constants_;  // index into constant order, patched at the end
  std::map<std::pair<Special, bool>, std::int32_t> special_slots_;
  std::map<std::string_view, std::uint64_t> shared_places_;
  std::map<std::int32_t, std::uint16_t> scores_;
  std::vector<Fixup> fixups_;
  std::vector<std::pair<std::size_t, std::string_view>> call_fixups_;
  bool dynamic_shared_ = false;
  bool calls_pointers_ = false;
  bool recurses_ = false;
  std::uint32_t dynamic_align_ = 16;
};

// Decodes the operands of one instruction.
class Builder {
 public:
  Builder(Decoder& decoder, const Decoder::Frame& frame, const ptx::Instruction& source,
          Instr& result)
      : in(source), out(result), decoder_(decoder), frame_(frame) {}

  const ptx::Operand& operand(std::size_t i) const;
  std::size_t operands() const { return in.operands.size(); }
  std::int32_t def(const ptx::Operand& operand, int bytes);  // place to write; `_` is a spare one
  std::int32_t use(const ptx::Operand& operand, ptx::Type type);
  std::int32_t use(const ptx::Operand& operand, int bytes);
  std::int32_t def_predicate(const ptx::Operand& operand);
  std::int32_t use_predicate(const ptx::Operand& operand);  // negation is the caller's
  bool wide(const ptx::Operand& operand) const;             // a 64-bit register
  bool is_entry() const { return frame_.function->entry; }
  bool has_wgmma() const { return frame_.has_wgmma; }
  bool is_register(const ptx::Operand& operand) const {
    return operand.kind == ptx::OperandKind::reg;
  }
  // Sets a, offset and wide_address; `out.space` is given and becomes local for a function's
  // params.
  void address(const ptx::Operand& operand);
  std::int32_t address_slot(const ptx::Operand& operand, std::int64_t& offset, bool& wide,
                            ptx::Space& space);
  std::uint32_t extra(const std::vector<std::int32_t>& offsets);
  std::uint64_t immediate(const ptx::Operand& operand) const;  // throws if it is no number
  void label(const ptx::Operand& operand);                     // sets target
  std::uint32_t jump_table(std::string_view name);
  [[noreturn]] void unsupported(std::string_view why = {}) const;

  // d, a, b, c with all of one type.
  void standard(ptx::Type type);

  const ptx::Instruction& in;
  Instr& out;

 private:
  friend class Decoder;
  Decoder& decoder_;
  const Decoder::Frame& frame_;
  std::vector<std::uint16_t> reads_;
  std::vector<std::uint16_t> writes_;
};

// Each family sets run, op_class and operands, or calls unsupported().
using Family = void (*)(Builder&);
void decode_integer(Builder&);
void decode_dot(Builder&);
void decode_bits(Builder&);
void decode_carry(Builder&);
void decode_float(Builder&);
void decode_float_pair(Builder&);
void decode_half(Builder&);
void decode_compare(Builder&);
void decode_convert(Builder&);
void decode_move(Builder&);
void decode_memory(Builder&);
void decode_atomic(Builder&);
void decode_lanes(Builder&);
void decode_control(Builder&);
void decode_barrier(Builder&);
void decode_async(Builder&);
void decode_bulk(Builder&);
void decode_mbarrier(Builder&);
void decode_store_async(Builder&);
void decode_matrix(Builder&);
void decode_wgmma(Builder&);
Family find_family(const ptx::Instruction& in);  // null: unknown

}  // namespace emulator
