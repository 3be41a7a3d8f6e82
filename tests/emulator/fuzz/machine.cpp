// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/fuzz/machine.h"

#include <cstring>
#include <optional>
#include <utility>

#include "emulator/decode/decoder.h"
#include "emulator/ptx/module.h"

namespace fuzz {

Machine::Machine(const std::string& chip_file)
    : chip_(emulator::read_chip(chip_file)), links_(chip_) {
  constexpr std::uint64_t bytes = std::uint64_t{8} << 20;
  in_ = emulator::memory().allocate(bytes, emulator::MemoryKind::managed, 0);
  out_ = emulator::memory().allocate(bytes, emulator::MemoryKind::managed, 0);
}

void Machine::run(const std::string& ptx, std::uint32_t blocks, std::uint32_t threads,
                  const std::vector<std::uint64_t>& in, std::vector<std::uint64_t>& out) {
  const emulator::ptx::Module module = emulator::ptx::parse(ptx);
  emulator::Decoder decoder(module, [](std::string_view) { return std::nullopt; });
  const emulator::Program code = decoder.decode("fuzz");
  std::memcpy(reinterpret_cast<void*>(in_), in.data(), 8 * in.size());
  std::memset(reinterpret_cast<void*>(out_), 0, 8 * out.size());
  auto grid = std::make_shared<emulator::Grid>();
  grid->program = &code;
  grid->grid.x = blocks;
  grid->block.x = threads;
  grid->params.resize(16);
  std::memcpy(grid->params.data(), &in_, 8);
  std::memcpy(grid->params.data() + 8, &out_, 8);
  bool ended = false;
  if (device_ == nullptr) device_ = std::make_unique<emulator::Device>(chip_, 0, links_);
  std::unique_ptr<emulator::Device> device = std::move(device_);  // lost if this throws
  device->launch(grid, now_, [&](emulator::Grid&, emulator::Time end) {
    ended = true;
    now_ = end;
  });
  while (!ended) device->advance(emulator::no_time, 1 << 20);
  std::memcpy(out.data(), reinterpret_cast<const void*>(out_), 8 * out.size());
  device_ = std::move(device);
}

}  // namespace fuzz
