// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <string_view>

#include "emulator/decode/decoder.h"

namespace emulator {
namespace {

struct Row {
  std::string_view base;
  Family family;
};
// Opcodes that one family decodes whatever their type.
constexpr Row rows[] = {
    {"and", decode_bits},
    {"or", decode_bits},
    {"xor", decode_bits},
    {"not", decode_bits},
    {"cnot", decode_bits},
    {"shl", decode_bits},
    {"shr", decode_bits},
    {"lop3", decode_bits},
    {"shf", decode_bits},
    {"prmt", decode_bits},
    {"bfe", decode_bits},
    {"bfi", decode_bits},
    {"brev", decode_bits},
    {"clz", decode_bits},
    {"popc", decode_bits},
    {"bfind", decode_bits},
    {"addc", decode_carry},
    {"subc", decode_carry},
    {"madc", decode_carry},
    {"rem", decode_integer},
    {"sad", decode_integer},
    {"mul24", decode_dot},
    {"mad24", decode_dot},
    {"dp4a", decode_dot},
    {"dp2a", decode_dot},
    {"setp", decode_compare},
    {"set", decode_compare},
    {"selp", decode_compare},
    {"slct", decode_compare},
    {"cvt", decode_convert},
    {"mov", decode_move},
    {"cvta", decode_move},
    {"isspacep", decode_move},
    {"mapa", decode_move},
    {"getctarank", decode_move},
    {"mbarrier", decode_mbarrier},
    {"ld", decode_memory},
    {"ldu", decode_memory},
    {"st", decode_memory},
    {"prefetch", decode_memory},
    {"prefetchu", decode_memory},
    {"discard", decode_memory},
    {"applypriority", decode_memory},
    {"createpolicy", decode_memory},
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"shfl", decode_lanes},
    {"vote", decode_lanes},
    {"match", decode_lanes},
    {"redux", decode_lanes},
    {"activemask", decode_lanes},
    {"elect", decode_lanes},
    {"bra", decode_control},
    {"brx", decode_control},
    {"ret", decode_control},
    {"exit", decode_control},
    {"trap", decode_control},
    {"brkpt", decode_control},
    {"nanosleep", decode_control},
    {"membar", decode_control},
    {"fence", decode_control},
    {"pmevent", decode_control},
    {"griddepcontrol", decode_control},
    {"setmaxnreg", decode_control},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"mma", decode_matrix},
    {"wgmma", decode_wgmma},
    {"ldmatrix", decode_matrix},
    {"stmatrix", decode_matrix},
    {"movmatrix", decode_matrix},
};
// Opcodes of integers, floats and halves.
constexpr std::string_view arithmetic[] = {"add", "sub", "mul", "mad",  "fma",      "div",   "min",
                                           "max", "abs", "neg", "rcp",  "sqrt",     "rsqrt", "ex2",
                                           "lg2", "sin", "cos", "tanh", "copysign", "testp"};

}  // namespace

Family find_family(const ptx::Instruction& in) {
  const std::string_view base = in.base();
  if (base == "cp") return decode_async;
  if ((base == "st" || base == "red") && in.has("async")) return decode_store_async;
  for (const Row& row : rows) {
    if (row.base == base) return row.family;
  }
  for (const std::string_view name : arithmetic) {
    if (name != base) continue;
    if (in.has("cc")) return decode_carry;
    const ptx::Type type = in.type();
    if (type.kind == ptx::Kind::none) return nullptr;
    if (type.name == "f32x2") return decode_float_pair;
    if (type.kind != ptx::Kind::real) return decode_integer;
    return type.name == "f32" || type.name == "f64" ? decode_float : decode_half;
  }
  return nullptr;
}

}  // namespace emulator
