// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "collectors/plan.h"

namespace warpmeter {
namespace {

template <typename T>
Json null_if(bool absent, const T& value) {
  return absent ? Json(nullptr) : Json(value);
}

Json to_json(const MetricPlan& plan, const Resolution& resolution) {
  const LogicalMetric& metric = *resolution.metric;
  const std::size_t group = plan.group_of(resolution);
  Json out = {
      {"id", metric.id},
      {"means", metric.means},
      {"unit", to_string(metric.unit)},
      {"name", null_if(resolution.name.empty(), resolution.name)},
      {"scale", metric.scale},
      {"formula", null_if(resolution.inputs.empty(), metric.formula ? metric.formula->text() : "")},
      {"scope", null_if(metric.names.empty(), std::string(to_string(metric.scope)))},
      {"passes", null_if(resolution.refused(), resolution.passes)},
      {"group", null_if(group == 0, group)},
      {"reason", null_if(!resolution.refused(), resolution.why)},
      {"refused_names", Json::array()}};
  for (const RefusedName& refusal : resolution.refusals) {
    out["refused_names"].push_back({{"name", refusal.name},
                                    {"error", null_if(refusal.error == 0, refusal.error)},
                                    {"reason", refusal.why}});
  }
  return out;
}

Json to_json(const PassGroup& group) {
  const auto& image = group.configuration.image;
  return {{"passes", group.configuration.passes},
          {"instrumented", group.instrumented},
          {"names", group.names},
          {"config_image",
           {{"bytes", image.size()}, {"fnv1a64", fmt::format("{:016x}", hash_image(image))}}}};
}

}  // namespace

std::uint64_t hash_image(std::span<const std::uint8_t> image) {
  std::uint64_t hash = 0xcbf29ce484222325;  // offset basis and prime of FNV-1a for 64 bits
  for (const std::uint8_t byte : image) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

Json to_json(const MetricPlan& plan) {
  const ChipHost& chip = plan.chip;
  Json out = {{"schema", "warpmeter.metric_plan/1"},
              {"cupti_version", plan.cupti_version},
              {"chip", chip.chip()},
              {"collector", to_string(chip.profiler())},
              {"max_metrics_per_pass",
               null_if(chip.max_metrics_per_pass() == 0, chip.max_metrics_per_pass())},
              {"passes_by_rotation", total_passes(plan.groups)},
              {"passes_by_replay", total_passes(plan.replay)},
              {"metrics", Json::array()},
              {"groups", Json::array()},
              {"replay", Json::array()}};
  for (const Resolution& metric : plan.metrics) out["metrics"].push_back(to_json(plan, metric));
  for (const PassGroup& group : plan.groups) out["groups"].push_back(to_json(group));
  for (const PassGroup& group : plan.replay) out["replay"].push_back(to_json(group));
  return out;
}

}  // namespace warpmeter
