// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/unit.h"

namespace warpmeter {

// One thing known about a machine, and who says so. A fact that could not be read has a null value
// and a source that says why.
struct Fact {
  Json value;
  std::optional<Unit> unit;
  std::string source;  // "hwloc", "/proc/cpuinfo", "cudaDeviceGetAttribute", "datasheet: ..."
};

using Facts = std::map<std::string, Fact>;

// The value of a numeric fact; null if it is absent, null or not a number.
std::optional<double> fact_number(const Facts& facts, const std::string& name);
std::string fact_text(const Facts& facts, const std::string& name);  // "" if absent

Json to_json(const Facts& facts);
Facts facts_from_json(const Json& object, std::string_view where);

// Facts of this host: cpu.model, cpu.cores, cpu.threads, cpu.isa.avx512f (and avx2, fma,
// avx512_bf16, avx512_vnni, amx), cache.l1d.size / .line / .shared_by, cache.l2.*, cache.l3.*
// (hwloc), memory.total, page.size, page.huge.size, page.huge.transparent, page.huge.reserved,
// governor, virtualization, numa.nodes, kernel.
Facts read_host_facts();

}  // namespace warpmeter
