// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/facts.h"

namespace warpmeter {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string cpuinfo(const std::string& key) {  // of the first processor; "" if absent
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of("\t ", key.size()) != colon) continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

void add_text(Facts& facts, const std::string& name, const std::string& value,
              const std::string& source) {
  facts[name] = value.empty() ? Fact{Json(), std::nullopt, source + ": not exposed here"}
                              : Fact{value, std::nullopt, source};
}

void add_isa(Facts& facts) {
  const std::string flags = " " + cpuinfo("flags") + " ";
  constexpr std::pair<const char*, const char*> wanted[] = {
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"avx512f", "avx512f"},
      {"avx512_bf16", "avx512_bf16"},
      {"avx512_vnni", "avx512_vnni"},
      {"avx512_fp16", "avx512_fp16"},
      {"amx_bf16", "amx"},
  };
  for (const auto& [flag, name] : wanted) {
    facts[fmt::format("cpu.isa.{}", name)] = {
        flags.find(fmt::format(" {} ", flag)) != std::string::npos, std::nullopt,
        "/proc/cpuinfo flags"};
  }
}

void add_caches(Facts& facts, hwloc_topology_t topology) {
  constexpr std::pair<hwloc_obj_type_t, const char*> levels[] = {{HWLOC_OBJ_L1CACHE, "cache.l1d"},
                                                                 {HWLOC_OBJ_L2CACHE, "cache.l2"},
                                                                 {HWLOC_OBJ_L3CACHE, "cache.l3"}};
  for (const auto& [type, name] : levels) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    if (cache == nullptr) continue;
    facts[fmt::format("{}.size", name)] = {cache->attr->cache.size, Unit::byte, "hwloc"};
    facts[fmt::format("{}.line", name)] = {cache->attr->cache.linesize, Unit::byte, "hwloc"};
    facts[fmt::format("{}.shared_by", name)] = {hwloc_bitmap_weight(cache->cpuset), Unit::one,
                                                "hwloc: hardware threads of this system"};
  }
}

void add_topology(Facts& facts) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  // Cores that taskset or a cpuset forbids are not ours.
  hwloc_topology_set_flags(
      topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(topology) == 0) {
    facts["cpu.cores"] = {hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), Unit::one,
                          "hwloc, allowed to this process"};
    facts["cpu.threads"] = {hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), Unit::one,
                            "hwloc, allowed to this process"};
    facts["numa.nodes"] = {hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), Unit::one,
                           "hwloc"};
    add_caches(facts, topology);
  }
  hwloc_topology_destroy(topology);
}

double meminfo_bytes(const std::string& key) {  // 0 if absent
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key + ":", 0) != 0) continue;
    std::istringstream fields(line.substr(key.size() + 1));
    double kib = 0;
    fields >> kib;
    return kib * 1024;
  }
  return 0;
}

void add_memory(Facts& facts) {
  facts["memory.total"] = {meminfo_bytes("MemTotal"), Unit::byte, "/proc/meminfo"};
  facts["memory.available"] = {meminfo_bytes("MemAvailable"), Unit::byte, "/proc/meminfo"};
  facts["page.size"] = {::sysconf(_SC_PAGESIZE), Unit::byte, "sysconf"};
  if (const double huge = meminfo_bytes("Hugepagesize"); huge > 0)
    facts["page.huge.size"] = {huge, Unit::byte, "/proc/meminfo"};
  facts["page.huge.reserved"] = {meminfo_bytes("HugePages_Total") / 1024, Unit::one,
                                 "/proc/meminfo"};
  add_text(facts, "page.huge.transparent",
           first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
           "/sys/kernel/mm/transparent_hugepage/enabled");
}

}  // namespace

Facts read_host_facts() {
  Facts facts;
  add_text(facts, "cpu.model", cpuinfo("model name"), "/proc/cpuinfo");
  add_text(facts, "cpu.vendor", cpuinfo("vendor_id"), "/proc/cpuinfo");
  add_text(facts, "cpu.family_model_stepping",
           cpuinfo("cpu family") + "/" + cpuinfo("model") + "/" + cpuinfo("stepping"),
           "/proc/cpuinfo");
  const bool virtual_machine =
      (" " + cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos;
  facts["virtualization"] = {virtual_machine ? "virtual machine" : "none seen", std::nullopt,
                             "/proc/cpuinfo flags"};
  add_isa(facts);
  add_topology(facts);
  add_memory(facts);
  add_text(facts, "governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
           "cpufreq");
  utsname system{};
  if (uname(&system) == 0)
    facts["kernel"] = {fmt::format("{} {}", system.sysname, system.release), std::nullopt, "uname"};
  return facts;
}

}  // namespace warpmeter
