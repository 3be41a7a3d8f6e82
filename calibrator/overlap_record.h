// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibrator/overlap_fit.h"
#include "model/machine.h"

namespace warpmeter {

// The fitting rows with what must be known about them.
struct OverlapData {
  std::vector<std::string> families;
  std::vector<OverlapRow> rows;
  std::vector<std::vector<std::string>> evidence;        // per family
  std::vector<std::vector<std::size_t>> shapes;          // per family, indices of its shapes
  std::map<std::string, std::set<std::string>> missing;  // per family without rows
};

// Scatter of a family with few rows leans on the scatter of all, as strongly as these many shapes.
inline constexpr double prior_degrees = 2;

// Free unknowns of one family, overhead and share.
double unknowns_of(const OverlapUnknowns& unknowns, std::size_t family);

// Degrees of freedom behind a family's scatter.
double degrees_of(const OverlapData& data, const OverlapUnknowns& unknowns, std::size_t family);

// What a fit found, indexed like OverlapUnknowns and by family.
struct OverlapResult {
  OverlapUnknowns unknowns;
  std::set<std::size_t> fixed;              // unknowns that the rows cannot tell
  std::vector<std::vector<double>> refits;  // of each unknown, over bootstrap resamples
  std::vector<double> sigma;                // scatter of each family
  OverlapCovariance covariance;
};

// Removes what an earlier fit left, so that nothing of it can be taken for this fit's.
void forget_overlap(Machine& machine);

// Writes the parameters and covariance that calibrator/overlap.h lists.
void record_overlap(Machine& machine, const OverlapData& data, const OverlapResult& result);

// Families all of whose rows lack a ceiling: `not_measured`, naming it. With no row at all
// model.overlap too.
void record_missing(Machine& machine, const OverlapData& data);

}  // namespace warpmeter
