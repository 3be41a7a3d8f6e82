// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <unistd.h>

#include "microbench/cuda/rows.h"
#include "microbench/cuda/sizes.h"
#include "microbench/cuda/transfer_case.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024;
constexpr double gib = kib * kib * kib;

std::vector<double> sizes(Effort effort) {
  std::vector<double> result;
  const double most = effort == Effort::quick ? 1024 * kib : gib;
  const double step = effort == Effort::thorough ? 2 : 4;
  for (double size = 256; size <= most; size *= step) result.push_back(size);
  return result;
}

std::vector<Parameters> points(const Device& device, Effort effort) {
  std::vector<Parameters> result;
  for (const char* engine : {"ce", "sm"}) {
    for (const double size : sizes(effort)) {
      for (const char* direction : {"h2d", "d2h"}) {
        result.push_back({{"direction", direction}, {"engine", engine}, {"size", size}});
      }
      for (Parameters pair : peer_pairs(device)) {
        pair.insert({{"direction", "p2p"}, {"engine", engine}, {"size", size}});
        result.push_back(pair);
        // Without a second GPU one point is enough to say so.
        if (!number(pair, "to") && size > 256) result.pop_back();
      }
    }
  }
  return result;
}

std::optional<std::string> no_host_memory(double bytes) {
  const double free =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  // The verifying copy needs as much again.
  if (2 * bytes <= free) return std::nullopt;
  return fmt::format("needs {} of free host memory, there are {}", format_bytes(2 * bytes),
                     format_si(free, Unit::byte));
}

std::optional<std::string> unsupported(const Device& device, const Parameters& parameters) {
  const double size = number(parameters, "size").value_or(0);
  if (auto reason = too_large(device, size)) return reason;
  if (auto reason = no_host_memory(size)) return reason;
  if (word(parameters, "direction") != "p2p") return std::nullopt;
  return word(parameters, "engine") == "sm" ? no_peer_access(parameters) : no_pair(parameters);
}

std::unique_ptr<Case> make(const Device& device, const Parameters& parameters) {
  const auto bytes = static_cast<std::size_t>(number(parameters, "size").value_or(0));
  const Engine engine = word(parameters, "engine") == "sm" ? Engine::sm : Engine::copy_engine;
  const std::string direction = word(parameters, "direction").value_or("");
  if (direction == "p2p") {
    return std::make_unique<TransferCase>(find_pair(parameters), engine, bytes);
  }
  return std::make_unique<TransferCase>(device, direction, engine, bytes);
}

}  // namespace

Benchmark transfer_time_row() {
  Benchmark row;
  row.id = row.quantity = "transfer.time";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "One copy between two events behind a closed gate, less two events with nothing between "
      "them; "
      "page-locked host memory on the GPU's NUMA node; ce: cudaMemcpyAsync, sm: a kernel with 16 B "
      "loads and stores (p2p: the source's device writes).";
  row.points = points;
  row.unsupported = unsupported;
  row.make = make;
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace warpmeter
