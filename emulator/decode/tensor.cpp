// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch: boxes of tensors that a
// tensor map describes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/decode/bulk.h"
#include "emulator/machine/address.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/tensor_map.h"

namespace emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum class Direction : std::uint8_t { to_shared, to_global, to_l2 };

// Operands in Program::extra.
struct Operands {
  std::int32_t shared;
  std::int32_t map;
  std::int32_t barrier;
  std::int32_t blocks;  // mask
  std::int32_t reduction;
  std::int32_t coordinates[5];
};
constexpr std::string_view reductions[] = {"",    "add", "min", "max", "inc",
                                           "dec", "and", "or",  "xor"};
constexpr std::size_t extras = sizeof(Operands) / sizeof(std::int32_t);

TensorMap load_map(Warp& w, const Instr& i, int lane, U64 address) {
  if (address % 64 != 0) {
    w.fail(cudaErrorMisalignedAddress, i, lane, "a tensor map lies at a multiple of 64 B");
  }
  std::array<std::byte, sizeof(TensorMap)> bytes;
  std::memcpy(bytes.data(), resolve_one(w, i, lane, address, sizeof bytes), sizeof bytes);
  const auto map = std::bit_cast<TensorMap>(bytes);
  if (map.magic != TensorMap::valid) {
    w.fail(cudaErrorIllegalInstruction, i, lane,
           fmt::format("there is no tensor map at {:#x}", address));
  }
  if (map.rank != i.count) {
    w.fail(cudaErrorIllegalInstruction, i, lane,
           fmt::format("a tensor map of {} dimensions where {} are expected", map.rank, i.count));
  }
  return map;
}

// Checks what the box touches; returns the pieces for the clock model.
std::vector<MemoryModel::BulkPiece> pieces_of(Warp& w, const Instr& i, int lane,
                                              const TensorBox& box) {
  std::vector<MemoryModel::BulkPiece> pieces;
  for (const TensorBox::Row& row : box.rows) {
    if (row.bytes == 0) continue;
    resolve_one(w, i, lane, row.global, row.bytes);
    pieces.push_back({row.global, row.bytes});
  }
  return pieces;
}

// Calls f(shared memory, data) for each chunk of 16 B; `base` is the box's begin at `offset` of
// shared memory. Rows are written whole.
template <typename Byte, typename F>
void for_chunks(const TensorBox& box, U32 span, Byte* base, U64 offset, F&& f) {
  for (std::size_t row = 0; row < box.rows.size(); ++row) {
    for (U32 at = 0; at < box.row_bytes; at += 16) {
      const U64 place = swizzled(offset + row * box.pitch + at, span);
      f(base + (place - offset), row * box.row_bytes + at);
    }
  }
}

void load(Warp& w, const Instr& i, int l, const Operands& p, const TensorMap& map,
          const TensorBox& box, U64 done) {
  const U64 to = bulk_address(w, p.shared, l, i.wide_dst);
  if (to % 128 != 0) {
    w.fail(cudaErrorMisalignedAddress, i, l,
           "a tensor copy needs a multiple of 128 B in shared memory");
  }
  const auto data = std::make_shared<std::vector<std::byte>>(gather(map, box));
  Delivery delivery;
  delivery.to = to;
  delivery.barrier = bulk_address(w, p.barrier, l, i.wide_src);
  delivery.blocks = p.blocks == -1 ? 0 : lane_of<std::uint16_t>(w, p.blocks, l);
  delivery.span = box.rows.size() * box.pitch;
  delivery.bytes = box.bytes();
  delivery.done = done;
  const U32 span = map.swizzle_bytes;
  deliver(w, i, l, delivery, [data, box, span, to](std::byte* base) {
    for_chunks(box, span, base, to & 0xffffff, [&data](std::byte* at, std::size_t from) {
      std::memcpy(at, data->data() + from, 16);
    });
  });
}

std::string_view name_of(TensorType type, bool bitwise) {
  static constexpr std::string_view names[] = {"u8",  "u16", "u32",  "s32", "u64", "s64", "f16",
                                               "f32", "f64", "bf16", "f32", "f32", "f32"};
  if (bitwise) return bytes_of(type) == 8 ? "b64" : "b32";
  return names[static_cast<std::size_t>(type)];
}

void store(Warp& w, const Instr& i, int l, const Operands& p, const TensorMap& map,
           const TensorBox& box) {
  const U64 from = bulk_address(w, p.shared, l, i.wide_dst);
  if (from % 128 != 0) {
    w.fail(cudaErrorMisalignedAddress, i, l,
           "a tensor copy needs a multiple of 128 B in shared memory");
  }
  const std::byte* base = bulk_shared(w, i, l, from, box.rows.size() * box.pitch);
  std::vector<std::byte> data(box.bytes());
  for_chunks(box, map.swizzle_bytes, base, from & 0xffffff,
             [&data](const std::byte* at, std::size_t to) { std::memcpy(&data[to], at, 16); });
  const std::string_view op = reductions[p.reduction];
  BulkReduction reduction = nullptr;
  if (!op.empty()) {
    const bool bitwise = op == "and" || op == "or" || op == "xor";
    reduction = bulk_reduction(op, name_of(map.type, bitwise));
    if (reduction == nullptr) {
      w.fail(cudaErrorIllegalInstruction, i, l, "the tensor's type has no such reduction");
    }
  }
  for (std::size_t r = 0; r < box.rows.size(); ++r) {
    const TensorBox::Row& row = box.rows[r];
    if (row.bytes == 0) continue;
    auto* to = reinterpret_cast<std::byte*>(row.global);
    const std::byte* source = &data[r * box.row_bytes + row.begin];
    if (reduction != nullptr) {
      reduction(to, source, row.bytes);
    } else {
      std::memcpy(to, source, row.bytes);
    }
  }
}

void tensor_copy(Warp& w, const Instr& i, U32 mask) {
  Operands p;
  std::memcpy(&p, &w.program().extra[i.extra], sizeof p);
  const auto direction = static_cast<Direction>(i.mode);
  for_lanes(mask, [&](int l) {
    const TensorMap map = load_map(w, i, l, lane_of<U64>(w, p.map, l));
    std::array<std::int32_t, 5> coordinates{};
    for (std::size_t d = 0; d < map.rank; ++d) {
      coordinates[d] = lane_of<std::int32_t>(w, p.coordinates[d], l);
    }
    const TensorBox box = box_at(map, coordinates);
    const auto pieces = pieces_of(w, i, l, box);
    const bool writes = direction == Direction::to_global;
    const U64 done =
        w.block().grid().device->model().bulk(w.block().sm(), pieces, box.bytes(), writes, w.now);
    if (direction == Direction::to_shared) load(w, i, l, p, map, box, done);
    if (direction == Direction::to_global) {
      store(w, i, l, p, map, box);
      note_bulk_store(w, done);
    }
  });
}

std::int32_t address_of(Builder& b, const ptx::Operand& operand, bool& wide) {
  ptx::Space space = ptx::Space::shared;
  std::int64_t offset = 0;
  const std::int32_t slot = b.address_slot(operand, offset, wide, space);
  if (offset != 0) b.unsupported("an address with an offset");
  return slot;
}

}  // namespace

void decode_tensor_copy(Builder& b) {
  Instr& out = b.out;
  for (const std::string_view part : b.in.parts) {
    if (part.starts_with("im2col") || part.starts_with("tile::") || part.starts_with("cta_group"))
      b.unsupported(part);
  }
  const bool reduces = b.in.parts[1] == "reduce";
  const bool loads = b.in.has("mbarrier::complete_tx::bytes");
  const bool prefetches = b.in.has("prefetch");
  Operands p{-1, -1, -1, -1, 0, {-1, -1, -1, -1, -1}};
  for (std::int32_t n = 1; reduces && n < 9; ++n) {
    if (b.in.has(reductions[n])) p.reduction = n;
  }
  out.mode = static_cast<std::uint8_t>(prefetches ? Direction::to_l2
                                       : loads    ? Direction::to_shared
                                                  : Direction::to_global);
  std::size_t at = 0;
  if (loads) p.shared = address_of(b, b.operand(at++), out.wide_dst);
  const ptx::Operand& tensor = b.operand(at++);
  bool wide = true;
  p.map = address_of(b, tensor, wide);
  if (!wide || tensor.parts.size() != 2) b.unsupported("a tensor is expected");
  const auto& coordinates = tensor.parts[1].parts;
  if (coordinates.empty() || coordinates.size() > 5) b.unsupported("1 to 5 coordinates");
  out.count = static_cast<std::uint8_t>(coordinates.size());
  for (std::size_t d = 0; d < coordinates.size(); ++d) p.coordinates[d] = b.use(coordinates[d], 4);
  if (loads) {
    p.barrier = address_of(b, b.operand(at++), out.wide_src);
    if (b.in.has("multicast::cluster")) p.blocks = b.use(b.operand(at), 2);
  } else if (!prefetches) {
    p.shared = address_of(b, b.operand(at), out.wide_dst);
  }
  std::vector<std::int32_t> places(extras);
  std::memcpy(places.data(), &p, sizeof p);
  out.extra = b.extra(places);
  out.run = tensor_copy;
}

}  // namespace emulator
