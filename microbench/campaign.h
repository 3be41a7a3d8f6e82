// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/benchmark.h"
#include "core/contention.h"
#include "core/sampler.h"

namespace warpmeter {

// What one campaign of one point gave: samples in the row's unit, or the reason why there are none.
struct Campaign {
  std::vector<double> samples;
  double median_elapsed_s = 0;  // of the timed part of one sample
  Json conditions = Json::object();
  Verdict verdict = Verdict::ok;  // ok, contaminated, unsupported or failed
  std::string reason;
};

Json to_json(const Campaign& campaign);
Campaign campaign_from_json(const Json& object, std::string_view where);

// Runs one campaign: builds a fresh case, samples until the sampler is content or the user
// interrupts. A campaign that others disturbed is run again, at most `max_retries` times; the last
// attempt is kept and marked. Never throws for what the benchmark does: its exceptions become the
// verdict `failed` or `unsupported`.
Campaign run_campaign(const Benchmark& benchmark, const Device& device,
                      const Parameters& parameters, const Sampler& sampler, int max_retries = 1);

// Why the reading says that others disturbed us; empty if they did not.
std::string describe_contention(const ContentionWatch::Reading& reading);

}  // namespace warpmeter
