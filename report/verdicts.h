// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace warpmeter {

inline constexpr Verdict all_verdicts[] = {
    Verdict::ok,        Verdict::multimodal,   Verdict::ramping,
    Verdict::throttled, Verdict::contaminated, Verdict::above_limit,
    Verdict::unstable,  Verdict::unsupported,  Verdict::failed};
inline constexpr Status all_statuses[] = {
    Status::measured, Status::derived,          Status::emulated,    Status::published,
    Status::borrowed, Status::not_identifiable, Status::not_measured};

// One sentence for the glossary.
std::string_view meaning(Verdict verdict);
std::string_view meaning(Status status);

std::string verdict_badge(Verdict verdict);
std::string status_badge(Status status);

// How many measurements of all runs have each verdict; verdicts without any are absent.
std::map<Verdict, int> count_verdicts(const ReportInput& input);

// Badges for the verdicts other than ok of the measurements with these ids: "2 unstable". Empty if
// all are ok or unknown.
std::string verdict_flags(const ReportInput& input, const std::vector<std::string>& ids);

}  // namespace warpmeter
