// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/peers.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/device.h"
#include "cuda/handles.h"
#include "cuda/links.h"

namespace warpmeter {
namespace {

const std::vector<Device>& system_devices() {
  static const std::vector<Device> devices = [] {
    std::string why;
    return find_cuda_devices(why);
  }();
  return devices;
}

LinkName link_of(const Device& from, const Device& to) {
  return name_link(fact_text(from.facts, "pci.bus_id"), fact_text(to.facts, "pci.bus_id"));
}

Device find_device(const Parameters& parameters, const std::string& name) {
  const auto ordinal = number(parameters, name);
  for (const Device& device : system_devices()) {
    if (ordinal && device.ordinal == *ordinal) return device;
  }
  throw InputError(fmt::format("no GPU for the parameter \"{}\"", name));
}

}  // namespace

std::vector<Parameters> peer_pairs(const Device& device) {
  std::vector<Parameters> pairs;
  for (const Device& from : system_devices()) {
    for (const Device& to : system_devices()) {
      if (from.ordinal == to.ordinal) continue;
      pairs.push_back({{"from", static_cast<double>(from.ordinal)},
                       {"to", static_cast<double>(to.ordinal)},
                       {"link", link_of(from, to).name}});
    }
  }
  if (pairs.empty()) pairs.push_back({{"from", static_cast<double>(device.ordinal)}});
  return pairs;
}

std::optional<std::string> no_pair(const Parameters& parameters) {
  if (number(parameters, "to")) return std::nullopt;
  return "this system has only one GPU";
}

std::optional<std::string> no_peer_access(const Parameters& parameters) {
  if (auto reason = no_pair(parameters)) return reason;
  const Pair pair = find_pair(parameters);
  int possible = 0;
  GPU_CHECK(cudaDeviceCanAccessPeer(&possible, pair.from.ordinal, pair.to.ordinal));
  if (possible != 0) return std::nullopt;
  return fmt::format("{} cannot address the memory of {} (cudaDeviceCanAccessPeer)",
                     to_string(pair.from), to_string(pair.to));
}

Pair find_pair(const Parameters& parameters) {
  return {find_device(parameters, "from"), find_device(parameters, "to")};
}

void enable_peer_access(const Pair& pair) {
  const DeviceGuard guard(pair.from.ordinal);
  const cudaError_t status = cudaDeviceEnablePeerAccess(pair.to.ordinal, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return;
  }
  GPU_CHECK(status);
}

Json peer_conditions(const Pair& pair) {
  const auto attribute = [&](cudaDeviceP2PAttr which) {
    int value = 0;
    GPU_CHECK(cudaDeviceGetP2PAttribute(&value, which, pair.from.ordinal, pair.to.ordinal));
    return value;
  };
  return {{"peer_access", attribute(cudaDevP2PAttrAccessSupported) != 0},
          {"performance_rank", attribute(cudaDevP2PAttrPerformanceRank)},
          {"native_atomics", attribute(cudaDevP2PAttrNativeAtomicSupported) != 0},
          {"link_source", link_of(pair.from, pair.to).source}};
}

}  // namespace warpmeter
