// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/chip.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <variant>

namespace emulator {
namespace {

using Json = nlohmann::json;

struct Key {
  const char* path;
  std::variant<std::int64_t Chip::*, double Chip::*> member;
  double low;
  double high;
};

constexpr double any = 1e18;
// Every key is required; the limits are what the model can hold.
const Key keys[] = {
    {"/devices", &Chip::devices, 1, 8},
    {"/compute_capability/major", &Chip::major, 8, 12},
    {"/compute_capability/minor", &Chip::minor, 0, 9},
    {"/memory_bytes", &Chip::memory_bytes, 1 << 20, 1e12},
    {"/sm/count", &Chip::sm_count, 1, 512},
    {"/sm/id_stride", &Chip::sm_id_stride, 1, 16},
    {"/sm/threads", &Chip::sm_threads, 1024, 2048},
    {"/sm/blocks", &Chip::sm_blocks, 1, 32},
    {"/sm/registers", &Chip::sm_registers, 32768, 65536},
    {"/sm/shared_bytes", &Chip::sm_shared_bytes, 49152, 1 << 20},
    {"/sm/block_shared_bytes", &Chip::block_shared_bytes, 49152, 1 << 20},
    {"/sm/hz", &Chip::sm_hz, 1e8, 1e10},
    {"/timer_ns", &Chip::timer_ns, 1, 1e6},
    {"/shared/latency", &Chip::shared_latency, 1, 1e4},
    {"/shared/banks", &Chip::shared_banks, 1, 64},
    {"/shared/cluster_latency", &Chip::cluster_latency, 1, 1e5},
    {"/l1/bytes", &Chip::l1_bytes, 1024, 1 << 22},
    {"/l1/line", &Chip::l1_line, 32, 256},
    {"/l1/sector", &Chip::l1_sector, 16, 128},
    {"/l1/ways", &Chip::l1_ways, 1, 4096},
    {"/l1/latency", &Chip::l1_latency, 1, 1e4},
    {"/l1/outstanding", &Chip::l1_outstanding, 1, 1e6},
    {"/l1/bytes_per_cycle", &Chip::l1_bytes_per_cycle, 1, 1024},
    {"/l2/bytes", &Chip::l2_bytes, 1024, 1 << 30},
    {"/l2/line", &Chip::l2_line, 32, 256},
    {"/l2/ways", &Chip::l2_ways, 1, 64},
    {"/l2/slices", &Chip::l2_slices, 1, 256},
    {"/l2/partitions", &Chip::l2_partitions, 1, 8},
    {"/l2/latency", &Chip::l2_latency, 1, 1e5},
    {"/l2/far_latency", &Chip::l2_far_latency, 0, 1e5},
    {"/l2/slice_bytes_per_cycle", &Chip::l2_slice_bytes_per_cycle, 1, 1024},
    {"/l2/sm_bytes_per_cycle", &Chip::l2_sm_bytes_per_cycle, 1, 1024},
    {"/l2/filled_by_copies", &Chip::l2_filled_by_copies, 0, 1},
    {"/l2/atomic_latency", &Chip::atomic_latency, 1, 1e5},
    {"/l2/atomic_interval", &Chip::atomic_interval, 0, 1e4},
    {"/tma/latency", &Chip::tma_latency, 0, 1e5},
    {"/tma/bytes_per_cycle", &Chip::tma_bytes_per_cycle, 1, 4096},
    {"/dram/latency", &Chip::dram_latency, 1, 1e5},
    {"/dram/channels", &Chip::dram_channels, 1, 256},
    {"/dram/bytes_per_second", &Chip::dram_bytes_per_second, 1e6, 1e14},
    {"/tlb/page_bytes", &Chip::tlb_page, 4096, 1 << 30},
    {"/tlb/l1_reach_bytes", &Chip::tlb_l1_reach, 4096, any},
    {"/tlb/l1_miss_latency", &Chip::tlb_l1_miss_latency, 0, 1e5},
    {"/tlb/l2_reach_bytes", &Chip::tlb_l2_reach, 4096, any},
    {"/tlb/l2_miss_latency", &Chip::tlb_l2_miss_latency, 0, 1e5},
    {"/host_link/latency", &Chip::host_latency, 1, 1e6},
    {"/host_link/bytes_per_second", &Chip::host_bytes_per_second, 1e6, 1e13},
    {"/host_link/copy_engines", &Chip::copy_engines, 1, 16},
    {"/host_link/copy_latency_ns", &Chip::copy_latency_ns, 0, 1e9},
    {"/peer_link/latency", &Chip::peer_latency, 1, 1e6},
    {"/peer_link/bytes_per_second", &Chip::peer_bytes_per_second, 1e6, 1e13},
    {"/overhead/api_ns", &Chip::api_ns, 0, 1e9},
    {"/overhead/launch_ns", &Chip::launch_ns, 0, 1e9},
    {"/overhead/dependent_ns", &Chip::dependent_ns, 0, 1e9},
    {"/overhead/graph_node_ns", &Chip::graph_node_ns, 0, 1e9},
    {"/overhead/event_ns", &Chip::event_ns, 1, 1e9},
    {"/overhead/block_cycles", &Chip::block_cycles, 0, 1e6},
    {"/limits/seconds", &Chip::limit_seconds, 1e-6, 1e6},
    {"/limits/wall_seconds", &Chip::limit_wall_seconds, 0.1, 1e6},
};

class Reader {
 public:
  Reader(std::string path, const Json& json) : path_(std::move(path)), json_(json) {}

  double number(const std::string& key, double low, double high) {
    seen_.insert(key);
    const Json::json_pointer at(key);
    if (!json_.contains(at)) fail(key, "is missing");
    const Json& value = json_.at(at);
    if (!value.is_number()) fail(key, "is no number");
    const double x = value.get<double>();
    if (!(x >= low && x <= high)) {
      fail(key, fmt::format("is {}; it must be between {} and {}", x, low, high));
    }
    return x;
  }
  void refuse_unknown() {
    const Json flat = json_.flatten();
    for (const auto& [key, value] : flat.items()) {
      if (key != "/name" && key != "/comment" && !seen_.contains(key))
        fail(key, "is not a key of a chip");
    }
  }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw std::runtime_error(fmt::format("chip file {}: {} {}", path_, key, what));
  }

 private:
  std::string path_;
  const Json& json_;
  std::set<std::string> seen_;
};

void check(const Reader& reader, const Chip& chip) {
  if ((chip.l1_sector & (chip.l1_sector - 1)) != 0) {
    reader.fail("/l1/sector", "must be a power of 2");
  }
  if (chip.l1_line % chip.l1_sector != 0 || chip.l1_line / chip.l1_sector > 8) {
    reader.fail("/l1/line", "must be 1 to 8 sectors");
  }
  if (chip.l2_line % chip.l1_sector != 0 || chip.l2_line / chip.l1_sector > 8) {
    reader.fail("/l2/line", "must be 1 to 8 sectors of /l1/sector");
  }
  if (chip.sm_shared_bytes > chip.l1_bytes) {
    reader.fail("/sm/shared_bytes", "is more than /l1/bytes, of which it is a part");
  }
  if (chip.block_shared_bytes > chip.sm_shared_bytes) {
    reader.fail("/sm/block_shared_bytes", "is more than /sm/shared_bytes");
  }
  if (chip.l1_latency > chip.l2_latency || chip.l2_latency > chip.dram_latency) {
    reader.fail("/l2/latency", "must lie between those of /l1 and /dram");
  }
  if (chip.tlb_l1_reach < chip.tlb_page || chip.tlb_l2_reach < chip.tlb_l1_reach) {
    reader.fail("/tlb/l2_reach_bytes", "must be at least that of l1, which must hold a page");
  }
  if (chip.l2_slices % chip.l2_partitions != 0) {
    reader.fail("/l2/slices", "must be a multiple of /l2/partitions");
  }
}

// FNV-1a, 64 bits: tells chip files apart, guards against nothing.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

}  // namespace

Chip read_chip(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("chip file {}: cannot be read", path));
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string text = buffer.str();
  Json json;
  try {
    json = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > 8) throw std::runtime_error("nested too deep");
      return true;
    });
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("chip file {}: {:.200}", path, error.what()));
  }
  Reader reader(path, json);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) {
    reader.fail("/name", "is missing");
  }
  Chip chip;
  chip.name = json["name"];
  chip.hash = hash_of(text);
  for (const Key& key : keys) {
    const double value = reader.number(key.path, key.low, key.high);
    if (const auto* real = std::get_if<double Chip::*>(&key.member)) {
      chip.*(*real) = value;
    } else {
      const auto whole = static_cast<std::int64_t>(value);
      if (static_cast<double>(whole) != value) reader.fail(key.path, "must be a whole number");
      chip.*std::get<std::int64_t Chip::*>(key.member) = whole;
    }
  }
  for (std::size_t i = 0; i < op_classes; ++i) {
    const OpClass op_class = static_cast<OpClass>(i);
    const std::string key = fmt::format("/instructions/{}", name_of(op_class));
    chip.timing[i].latency = reader.number(key + "/latency", 0, 1e6);
    const bool mma = pipe_of(op_class) == Pipe::tensor;
    chip.timing[i].interval =
        reader.number(key + (mma ? "/macs_per_cycle" : "/interval"), mma ? 1 : 0, 1e6);
  }
  check(reader, chip);
  reader.refuse_unknown();
  return chip;
}

const Chip& the_chip() {
  static const Chip chip = [] {
    const char* path = std::getenv("WARPMETER_EMULATED_CHIP_FILE");
    if (path == nullptr) {
      throw std::runtime_error(
          "WARPMETER_EMULATED_CHIP_FILE is not set; start the program with scripts/emulate CHIP -- "
          "CMD");
    }
    Chip result = read_chip(path);
    // How the program under emulation learns where its numbers come from.
    setenv("WARPMETER_EMULATED_CHIP", fmt::format("{} {}", result.name, result.hash).c_str(), 1);
    return result;
  }();
  return chip;
}

}  // namespace emulator
