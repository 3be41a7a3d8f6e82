// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/cupti_host.h"
#include "collectors/pack.h"
#include "core/json.h"

namespace warpmeter {

// A name that a chip does not give, and why.
struct RefusedName {
  std::string name;
  int error;  // CUptiResult; 0 if CUPTI does not list the name for this chip
  std::string why;
};

// What stands for a logical metric on a chip.
struct Resolution {
  const LogicalMetric* metric = nullptr;
  std::string name;                   // the chosen counter; empty if there is none
  std::vector<std::string> inputs;    // ids, if it is computed by its formula
  std::size_t passes = 0;             // when collected alone; 0 if refused
  std::vector<RefusedName> refusals;  // names that came before the chosen one, or all
  std::string why;                    // one line, if it is refused; else empty

  bool refused() const { return !why.empty(); }
};

// The first name that is listed and can be scheduled alone; else the formula, if all its inputs
// resolve; else a reason.
Resolution resolve(const ChipHost& chip, const Catalogue& catalogue, const LogicalMetric& metric);

// The metrics of a plan on one chip, and the groups in which their counters are collected.
struct MetricPlan {
  ChipHost chip;
  std::uint32_t cupti_version = 0;
  std::vector<Resolution> metrics;  // as asked, then inputs of formulas that were not asked for
  std::vector<PassGroup> groups;    // for pass rotation
  std::vector<PassGroup> replay;    // the same counters, for replay

  // From 1; 0 for a metric that is refused or computed.
  std::size_t group_of(const Resolution& metric) const;
};

MetricPlan make_plan(const CuptiHost& cupti, const ChipHost& chip, const Catalogue& catalogue,
                     const std::vector<const LogicalMetric*>& asked);

std::size_t total_passes(const std::vector<PassGroup>& groups);

// FNV-1a, 64 bits. CUPTI accepts an image that was cut short, so whoever keeps one keeps its length
// and this.
std::uint64_t hash_image(std::span<const std::uint8_t> image);

// Stable order of keys; a metric that is refused has null for its name and passes, and a reason.
Json to_json(const MetricPlan& plan);

}  // namespace warpmeter
