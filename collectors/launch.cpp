// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/launch.h"

#include <algorithm>
#include <cctype>

namespace warpmeter {
namespace {

constexpr std::string_view library = "a communication kernel waits for other GPUs";
constexpr std::string_view collective = "a collective operation waits for other GPUs";
constexpr std::string_view spins = "it spins until another launch or the host lets it go";

constexpr RefusedKernel refused[] = {
    {"nccl", library},
    {"rccl", library},
    {"nvshmem", library},
    {"mscclpp", library},
    {"deepep", library},
    {"userbuffers", library},
    {"allreduce", collective},
    {"allgather", collective},
    {"alltoall", collective},
    {"all2all", collective},
    {"reducescatter", collective},
    {"sendrecv", collective},
    {"crossdevicereduce", collective},
    {"multimem", collective},
    {"symmmem", collective},
    {"mnnvl", collective},
    {"lamport", collective},
    {"spinkernel", spins},
    {"spinwait", spins},
    {"spinlock", spins},
    {"busywait", spins},
    {"waitflag", spins},
    {"waitsignal", spins},
    {"waitvalue", spins},
};

}  // namespace

std::span<const RefusedKernel> refused_kernels() { return refused; }

std::optional<std::string_view> why_refused(std::string_view kernel) {
  std::string plain;
  for (const char c : kernel)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const RefusedKernel& entry : refused)
    if (plain.find(entry.part) != std::string::npos) return entry.reason;
  return std::nullopt;
}

std::optional<std::string_view> why_refused(const LaunchInfo& launch) {
  if (launch.cooperative) return "a cooperative launch: its blocks wait for each other";
  if (launch.peer_mapped) return "memory of another GPU is mapped: it may wait for that GPU";
  if (!launch.graph) return why_refused(launch.kernel);
  if (launch.graph_kernels.empty()) return "a graph whose kernels are not known";
  for (const std::string_view kernel : launch.graph_kernels)
    if (const auto why = why_refused(kernel)) return why;
  return std::nullopt;
}

}  // namespace warpmeter
