// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/campaign.h"

#include <fmt/format.h>

#include <chrono>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// Shares of wall time above which a campaign is called contaminated. The clock tick behind the last
// two is 10 ms, so they are only looked at when they exceed several ticks.
constexpr double waited_share = 0.10;
constexpr double stolen_share = 0.05;
constexpr double others_share = 0.30;
constexpr double ticks_s = 0.05;

void take_samples(Case& test, const Sampler& sampler, Campaign& campaign) {
  std::vector<double> elapsed;
  const auto begin = std::chrono::steady_clock::now();
  double wall_s = 0;
  do {
    const Sample sample = test.sample();
    campaign.samples.push_back(sample.value);
    elapsed.push_back(sample.elapsed_s);
    wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } while (sampler.wants_more(campaign.samples, wall_s) && !interrupted());
  campaign.median_elapsed_s = median(elapsed).value_or(0);
}

Campaign attempt(const Benchmark& benchmark, const Device& device, const Parameters& parameters,
                 const Sampler& sampler) {
  Campaign campaign;
  try {
    const std::unique_ptr<Case> test = benchmark.make(device, parameters);
    const ContentionWatch watch;
    take_samples(*test, sampler, campaign);
    const ContentionWatch::Reading reading = watch.read();
    campaign.conditions = test->conditions();
    campaign.conditions["waited_s"] = reading.waited_s;
    campaign.conditions["stolen_s"] = reading.stolen_s;
    campaign.conditions["others_busy_s"] = reading.others_busy_s;
    campaign.conditions["wall_s"] = reading.wall_s;
    if (!is_emulated(device)) campaign.reason = describe_contention(reading);
    if (!campaign.reason.empty()) campaign.verdict = Verdict::contaminated;
  } catch (const UnsupportedError& error) {
    campaign.verdict = Verdict::unsupported;
    campaign.reason = error.what();
  } catch (const std::exception& error) {
    campaign.verdict = Verdict::failed;
    campaign.reason = error.what();
  }
  return campaign;
}

}  // namespace

std::string describe_contention(const ContentionWatch::Reading& reading) {
  const auto share = [&](double seconds) { return 100 * seconds / reading.wall_s; };
  if (reading.waited_s > waited_share * reading.wall_s) {
    return fmt::format("our threads waited for a core {:.0f} % of the time",
                       share(reading.waited_s));
  }
  if (reading.stolen_s > ticks_s && reading.stolen_s > stolen_share * reading.wall_s) {
    return fmt::format("the hypervisor gave {:.0f} % of a core to other guests",
                       share(reading.stolen_s));
  }
  if (reading.others_busy_s > ticks_s && reading.others_busy_s > others_share * reading.wall_s) {
    return fmt::format("other processes kept {:.0f} % of a core busy",
                       share(reading.others_busy_s));
  }
  return "";
}

Campaign run_campaign(const Benchmark& benchmark, const Device& device,
                      const Parameters& parameters, const Sampler& sampler, int max_retries) {
  Campaign campaign = attempt(benchmark, device, parameters, sampler);
  int retries = 0;
  while (campaign.verdict == Verdict::contaminated && retries < max_retries && !interrupted()) {
    campaign = attempt(benchmark, device, parameters, sampler);
    ++retries;
  }
  if (retries > 0) campaign.conditions["retries"] = retries;
  return campaign;
}

Json to_json(const Campaign& campaign) {
  return Json{{"samples", campaign.samples},
              {"median_elapsed_s", campaign.median_elapsed_s},
              {"conditions", campaign.conditions},
              {"verdict", to_string(campaign.verdict)},
              {"reason", campaign.reason}};
}

Campaign campaign_from_json(const Json& object, std::string_view where) {
  Campaign campaign;
  for (const Json& sample : require(object, "samples", where))
    campaign.samples.push_back(sample.get<double>());
  campaign.median_elapsed_s = require_number(object, "median_elapsed_s", where);
  campaign.conditions = require(object, "conditions", where);
  campaign.verdict = parse_verdict(require_string(object, "verdict", where));
  campaign.reason = require_string(object, "reason", where);
  return campaign;
}

}  // namespace warpmeter
