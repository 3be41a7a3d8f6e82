// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "core/facts.h"

namespace warpmeter {

// Facts of a host that does not exist: private first and second level, a shared third unless its
// size is 0; 64 GiB of memory, huge pages on request, no AVX-512.
inline Facts made_up_host(int cores, double l1, double l2, double l3) {
  Facts facts;
  const auto add = [&facts](const char* name, const Json& value) {
    facts[name] = {value, std::nullopt, "made up"};
  };
  add("cpu.cores", cores);
  add("cpu.threads", cores);
  add("cache.l1d.size", l1);
  add("cache.l1d.line", 64);
  add("cache.l1d.shared_by", 1);
  add("cache.l2.size", l2);
  add("cache.l2.shared_by", 1);
  if (l3 > 0) {
    add("cache.l3.size", l3);
    add("cache.l3.shared_by", cores);
  }
  add("memory.available", 64.0 * (1 << 30));
  add("page.huge.transparent", "always [madvise] never");
  add("cpu.isa.avx512_bf16", false);
  add("cpu.isa.avx512_vnni", false);
  return facts;
}

}  // namespace warpmeter
