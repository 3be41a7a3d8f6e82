// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// st.async red.async: to shared memory of a block of the cluster, counted at an mbarrier there.
#include <array>
#include <cstring>

#include "emulator/decode/bulk.h"
#include "emulator/machine/block.h"
#include "emulator/machine/device.h"

namespace emulator {
namespace {

// Program::extra: mbarrier, then the values.
void store_async(Warp& w, const Instr& i, std::uint32_t mask) {
  const std::int32_t* p = &w.program().extra[i.extra];
  const std::uint32_t bytes = i.bytes;
  const auto reduction = reinterpret_cast<BulkReduction>(i.offset);
  const auto latency = static_cast<std::uint64_t>(w.block().grid().device->chip().cluster_latency);
  for_lanes(mask, [&](int l) {
    Delivery delivery;
    delivery.to = bulk_address(w, i.a, l, i.wide_address) + i.target;
    delivery.barrier = bulk_address(w, p[0], l, i.wide_src);
    delivery.span = delivery.bytes = std::uint64_t{bytes} * i.count;
    delivery.done = w.now + latency;
    if (delivery.to % delivery.bytes != 0) {
      w.fail(cudaErrorMisalignedAddress, i, l, "not a multiple of what is stored");
    }
    std::array<std::byte, 32> data{};
    for (std::uint32_t n = 0; n < i.count; ++n) {
      const std::uint64_t value = bytes == 8 ? lane_of<std::uint64_t>(w, p[1 + n], l)
                                             : lane_of<std::uint32_t>(w, p[1 + n], l);
      std::memcpy(&data[n * bytes], &value, bytes);
    }
    deliver(w, i, l, delivery, [data, reduction, size = delivery.bytes](std::byte* at) {
      if (reduction != nullptr) {
        reduction(at, data.data(), size);
      } else {
        std::memcpy(at, data.data(), size);
      }
    });
  });
}

}  // namespace

void decode_store_async(Builder& b) {
  Instr& out = b.out;
  out.op_class = OpClass::move;
  const ptx::Type type = b.in.type();
  if (!b.in.has("mbarrier::complete_tx::bytes") || type.bytes < 4 || type.bytes > 8) {
    b.unsupported();
  }
  ptx::Space space = ptx::Space::shared;
  std::int64_t offset = 0;
  out.a = b.address_slot(b.operand(0), offset, out.wide_address, space);
  out.target = static_cast<std::uint32_t>(offset);
  out.bytes = type.bytes;
  const ptx::Operand& value = b.operand(1);
  std::vector<std::int32_t> places(1);
  if (value.kind == ptx::OperandKind::vector) {
    for (const ptx::Operand& part : value.parts) places.push_back(b.use(part, type));
  } else {
    places.push_back(b.use(value, type));
  }
  out.count = static_cast<std::uint8_t>(places.size() - 1);
  places[0] = b.address_slot(b.operand(2), offset, out.wide_src, space);
  if (offset != 0) b.unsupported("an mbarrier with an offset");
  if (b.in.base() == "red") {
    const BulkReduction reduction = bulk_reduction(reduction_of(b.in), type.name);
    if (reduction == nullptr) b.unsupported();
    out.offset = reinterpret_cast<std::int64_t>(reduction);
  }
  out.extra = b.extra(places);
  out.run = store_async;
}

}  // namespace emulator
