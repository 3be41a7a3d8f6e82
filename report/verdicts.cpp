// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/verdicts.h"

#include <fmt/format.h>

#include "report/html.h"

namespace warpmeter {

namespace {

std::string_view css_class(Verdict verdict) {
  if (verdict == Verdict::ok) return "good";
  if (verdict == Verdict::unsupported) return "none";
  return usable(verdict) ? "warn" : "bad";
}

std::string_view css_class(Status status) {
  switch (status) {
    case Status::measured:
      return "good";
    case Status::derived:
    case Status::published:
      return "info";
    case Status::emulated:
    case Status::borrowed:
      return "warn";
    default:
      return "none";
  }
}

}  // namespace

std::string_view meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "Nothing speaks against the number.";
    case Verdict::ramping:
      return "The samples drift: the clock or the caches had not settled.";
    case Verdict::throttled:
      return "The clock fell while measuring, by power or heat.";
    case Verdict::contaminated:
      return "Somebody else used the device while it was measured.";
    case Verdict::multimodal:
      return "The samples form groups: one number does not describe them, the modes do.";
    case Verdict::above_limit:
      return "Beyond what the hardware can do: the measurement is wrong, not the hardware fast.";
    case Verdict::unstable:
      return "Campaigns disagree by more than the quantity allows.";
    case Verdict::unsupported:
      return "This device or this system cannot run the benchmark.";
    case Verdict::failed:
      return "The benchmark ended with an error or a wrong result.";
  }
  return "";
}

std::string_view meaning(Status status) {
  switch (status) {
    case Status::measured:
      return "Taken from measurements of this device.";
    case Status::derived:
      return "Computed from other parameters, with their covariance.";
    case Status::emulated:
      return "Read back from an emulated device, where it was planted; says nothing of hardware.";
    case Status::published:
      return "Transcribed from a publication that the evidence names; not measured here.";
    case Status::borrowed:
      return "Taken from a similar device, for want of better.";
    case Status::not_identifiable:
      return "Data exist, but they cannot tell the value.";
    case Status::not_measured:
      return "No data.";
  }
  return "";
}

std::string verdict_badge(Verdict verdict) { return badge(css_class(verdict), to_string(verdict)); }

std::string status_badge(Status status) {
  std::string text(to_string(status));
  for (char& c : text) c = c == '_' ? ' ' : c;
  return badge(css_class(status), text);
}

std::map<Verdict, int> count_verdicts(const ReportInput& input) {
  std::map<Verdict, int> counts;
  for (const Run& run : input.runs) {
    for (const Measurement& measurement : run.measurements) ++counts[measurement.verdict];
  }
  return counts;
}

std::string verdict_flags(const ReportInput& input, const std::vector<std::string>& ids) {
  std::map<Verdict, int> counts;
  for (const std::string& id : ids) {
    for (const Run& run : input.runs) {
      if (const Measurement* measurement = find(run, id)) ++counts[measurement->verdict];
    }
  }
  counts.erase(Verdict::ok);
  std::string out;
  for (const auto& [verdict, count] : counts) {
    out += badge(css_class(verdict), fmt::format("{} {}", count, to_string(verdict))) + " ";
  }
  return out;
}

}  // namespace warpmeter
