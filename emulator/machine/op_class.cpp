// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/op_class.h"

namespace emulator {
namespace {

struct Row {
  const char* name;
  Pipe pipe;
};

constexpr Row rows[op_classes] = {
    {"move", Pipe::alu},
    {"alu", Pipe::alu},
    {"imad", Pipe::fma},
    {"fp32", Pipe::fma},
    {"fp16", Pipe::fma},
    {"fp64", Pipe::fp64},
    {"special_function", Pipe::special},
    {"convert", Pipe::special},
    {"branch", Pipe::control},
    {"vote", Pipe::alu},
    {"shuffle", Pipe::lsu},
    {"barrier", Pipe::control},
    {"fence", Pipe::control},
    {"param", Pipe::alu},
    {"clock", Pipe::control},
    {"sleep", Pipe::control},
    {"load", Pipe::lsu},
    {"store", Pipe::lsu},
    {"atomic", Pipe::lsu},
    {"async_copy", Pipe::lsu},
    {"matrix_load", Pipe::lsu},
    {"mma_f16", Pipe::tensor},
    {"mma_tf32", Pipe::tensor},
    {"mma_int8", Pipe::tensor},
    {"mma_fp8", Pipe::tensor},
    {"mma_f64", Pipe::tensor},
    {"wgmma_f16", Pipe::tensor},
    {"wgmma_tf32", Pipe::tensor},
    {"wgmma_int8", Pipe::tensor},
    {"wgmma_fp8", Pipe::tensor},
};

}  // namespace

Pipe pipe_of(OpClass op_class) { return rows[static_cast<std::size_t>(op_class)].pipe; }
const char* name_of(OpClass op_class) { return rows[static_cast<std::size_t>(op_class)].name; }

}  // namespace emulator
