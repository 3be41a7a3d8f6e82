// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// ldmatrix stmatrix movmatrix: 8 x 8 matrices of 16-bit elements. Lane l holds row l / 4, columns
// 2 (l % 4) and the next of each; transposed, rows and columns change places.
#include <array>
#include <cstring>

#include "emulator/decode/access.h"
#include "emulator/decode/decoder.h"

namespace emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using Matrix = std::array<std::array<U16, 8>, 8>;

U32 element_pair(const Matrix& m, int lane, bool transposed) {
  const int row = lane / 4;
  const int column = 2 * (lane % 4);
  if (transposed) return U32{m[column + 1][row]} << 16 | m[column][row];
  return U32{m[row][column + 1]} << 16 | m[row][column];
}

void set_pair(Matrix& m, int lane, bool transposed, U32 pair) {
  const int row = lane / 4;
  const int column = 2 * (lane % 4);
  (transposed ? m[column][row] : m[row][column]) = static_cast<U16>(pair);
  (transposed ? m[column + 1][row] : m[row][column + 1]) = static_cast<U16>(pair >> 16);
}

// Rows of matrix n are addressed by lanes 8 n to 8 n + 7.
U32 row_lanes(int matrices) { return matrices == 4 ? all_lanes : (1u << (8 * matrices)) - 1; }

void load_matrix(Warp& w, const Instr& i, U32 mask) {
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  Pointers rows;
  resolve(w, i, row_lanes(i.count), i.space, i.a, i.wide_address, i.offset, 16, rows);
  const std::int32_t* parts = &w.program().extra[i.extra];
  for (int n = 0; n < i.count; ++n) {
    Matrix m;
    for (int row = 0; row < 8; ++row) std::memcpy(m[row].data(), rows[8 * n + row], 16);
    for (int l = 0; l < 32; ++l) lane_of<U32>(w, parts[n], l) = element_pair(m, l, i.mode != 0);
  }
}

void store_matrix(Warp& w, const Instr& i, U32 mask) {
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  Pointers rows;
  resolve(w, i, row_lanes(i.count), i.space, i.a, i.wide_address, i.offset, 16, rows);
  const std::int32_t* parts = &w.program().extra[i.extra];
  for (int n = 0; n < i.count; ++n) {
    Matrix m;
    for (int l = 0; l < 32; ++l) set_pair(m, l, i.mode != 0, lane_of<U32>(w, parts[n], l));
    for (int row = 0; row < 8; ++row) std::memcpy(rows[8 * n + row], m[row].data(), 16);
  }
}

void move_matrix(Warp& w, const Instr& i, U32 mask) {
  if (!w.converge(i, all_lanes & w.live, mask)) return;
  Matrix m;
  for (int l = 0; l < 32; ++l) set_pair(m, l, false, lane_of<U32>(w, i.a, l));
  for (int l = 0; l < 32; ++l) lane_of<U32>(w, i.dst, l) = element_pair(m, l, true);
}

}  // namespace

void decode_matrix_memory(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::matrix_load;
  out.mode = b.in.has("trans") ? 1 : 0;
  if (!b.in.has("m8n8") || !b.in.has("b16")) b.unsupported();
  if (b.in.base() == "movmatrix") {
    out.op_class = OpClass::shuffle;
    out.dst = b.def(b.operand(0), 4);
    out.a = b.use(b.operand(1), 4);
    out.run = move_matrix;
    return;
  }
  const bool loads = b.in.base() == "ldmatrix";
  out.count = b.in.has("x4") ? 4 : b.in.has("x2") ? 2 : 1;
  out.space = ptx::Space::shared;
  if (!b.in.has("shared") && !b.in.has("shared::cta")) out.space = ptx::Space::generic;
  if (!loads) out.op_class = OpClass::store;
  std::vector<std::int32_t> places;
  const ptx::Operand& data = b.operand(loads ? 0 : 1);
  for (const ptx::Operand& part : data.parts) {
    places.push_back(loads ? b.def(part, 4) : b.use(part, 4));
  }
  if (places.size() != out.count) b.unsupported("vector size");
  out.extra = b.extra(places);
  b.address(b.operand(loads ? 1 : 0));
  out.run = loads ? load_matrix : store_matrix;
}

}  // namespace emulator
