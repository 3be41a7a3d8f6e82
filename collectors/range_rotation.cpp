// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What RangeCollector keeps: groups of a context, samples of a shape, rows.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "collectors/range_collector.h"
#include "core/error.h"

namespace warpmeter {
namespace {

// Metrics that rest on a group which cannot be had say so.
void refuse_group(CounterPlan& plan, std::size_t group, const std::string& why) {
  for (WantedMetric& wanted : plan.metrics)
    if (std::find(plan.groups[group].begin(), plan.groups[group].end(), wanted.counter) !=
        plan.groups[group].end())
      wanted.why = why;
}

std::span<const std::byte> bytes_of(const std::vector<std::uint8_t>& data) {
  return std::as_bytes(std::span(data));
}

}  // namespace

// The context's groups, made once, and the group whose turn it is. False: nothing to collect.
bool RangeCollector::open_context(Active& active) {
  ContextState& context = *active.context;
  CounterPlan& plan = plans_[active.key.device];
  if (!context.profiler) {
    context.profiler = std::make_unique<RangeProfiler>(*target_.cupti, active.launch.context,
                                                       target_.devices[active.key.device].chip);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      CounterGroup group;
      std::string why;
      try {
        group = context.profiler->make_group(plan.groups[g]);
        if (group.config.passes > 1)
          why = fmt::format("it takes {} passes of one launch, and launches are not repeated here",
                            group.config.passes);
      } catch (const InputError& error) {
        why = error.what();
      }
      const std::lock_guard lock(mutex_);
      if (why.empty())
        context.usable.push_back(g);
      else
        refuse_group(plan, g, why);
      if (why.empty() && described_devices_.count(active.key.device) == 0)
        images_.push_back({active.key.device, "config", group.config.image});
      context.groups.push_back(std::move(group));
    }
    const std::lock_guard lock(mutex_);
    described_devices_.insert(active.key.device);
  }
  if (context.usable.empty()) throw InputError("range: no group of counters fits one pass");
  const std::lock_guard lock(mutex_);
  State& state = states_.try_emplace(active.key, plan, std::hash<std::string>()(active.key.name))
                     .first->second;
  if (state.turn.empty()) {
    state.turn = context.usable;
    std::shuffle(state.turn.begin(), state.turn.end(), state.random);
  }
  active.group = state.turn.back();
  return true;
}

void RangeCollector::keep(Active& active, RangeValues values) {
  const std::lock_guard lock(mutex_);
  if (given_up_) return;
  if (active.contaminated) {
    ++counts_["contaminated"];
    return;
  }
  ++counts_["measured"];
  State& state = states_.at(active.key);
  state.turn.pop_back();
  state.samples.groups[active.group].push_back(std::move(values.planned));
  state.samples.invariants.push_back(values.invariants);
  if (kept_images_ < options_.images) {
    ++kept_images_;
    images_.push_back(
        {active.key.device, "counter_data", active.context->groups[active.group].counter_data});
  }
  for (const std::size_t group : active.context->usable)
    if (state.samples.groups[group].size() < options_.repeats) return;
  state.complete = true;
  const CounterPlan& plan = plans_[active.key.device];
  finished_.push_back({active.key, plan, std::exchange(state.samples, PassSamples(plan))});
}

void RangeCollector::close_context(Active& active, const std::string& why) {
  active.context->profiler.reset();
  const std::lock_guard lock(mutex_);
  active.context->why = why;
  losses_.push_back(
      {fmt::format("counters of device {} in one context", active.key.device), why, -1});
}

void RangeCollector::finish_all() {
  for (auto& [key, state] : states_)
    if (!state.complete && !state.samples.invariants.empty())
      finished_.push_back({key, plans_[key.device], std::move(state.samples)});
  states_.clear();
  for (const auto& [kernel, count] : refused_)
    losses_.push_back({"launches of " + kernel.first, std::string(kernel.second), count});
  refused_.clear();
  if (const auto count = std::exchange(counts_["contaminated"], 0); count != 0)
    losses_.push_back({"measured launches", "other work ran in their range", count});
  if (const auto count = std::exchange(counts_["further_shapes"], 0); count != 0)
    losses_.push_back(
        {"launches", fmt::format("{} shapes were told apart before", options_.shapes), count});
}

std::size_t RangeCollector::drain(RowSink& sink) {
  std::vector<Finished> finished;
  std::vector<Image> images;
  std::vector<Loss> losses;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
    images.swap(images_);
    losses.swap(losses_);
  }
  std::size_t rows = images.size() + losses.size();
  for (const Image& image : images) {
    const TargetDevice& device = target_.devices[image.device];
    sink.add(
        ImageRow{target_.process_id, device.row_id, device.chip, image.kind, bytes_of(image.data)});
  }
  for (const Loss& loss : losses) {
    LossRow row;
    row.process_id = target_.process_id;
    row.collector = name();
    row.what = loss.what;
    if (loss.count >= 0) row.count = loss.count;
    row.reason = loss.reason;
    sink.add(row);
  }
  for (const Finished& one : finished) {
    const auto optional = [](std::int64_t n) { return n < 0 ? std::nullopt : std::optional(n); };
    const auto& e = one.key.extent;
    Shape shape;
    shape.name_id = sink.string(one.key.name);
    shape.grid = {e[0], e[1], e[2]};
    shape.block = {e[3], e[4], e[5]};
    shape.cluster = {e[6], e[7], e[8]};
    shape.shared_static = optional(one.key.memory[0]);
    shape.shared_dynamic = optional(one.key.memory[1]);
    shape.registers = optional(one.key.memory[2]);
    const std::int64_t shape_id = sink.shape(shape);
    for (const MetricValue& value : combine(one.plan, one.samples)) {
      CounterRow row;
      row.shape_id = shape_id;
      row.device_id = target_.devices[one.key.device].row_id;
      row.metric_id = sink.string(value.metric->id);
      row.value = value.value;
      row.unit = to_string(value.metric->unit);
      row.source = name();
      row.scope = value.scope;
      if (value.launches > 0) row.passes = value.launches;
      if (value.interval) {
        row.low = value.interval->lo;
        row.high = value.interval->hi;
        row.level = default_level;
      }
      row.verdict = to_string(value.verdict);
      if (!value.reason.empty()) row.reason = value.reason;
      sink.add(row);
      ++rows;
    }
  }
  return rows;
}

Json RangeCollector::describe() const {
  const std::lock_guard lock(mutex_);
  Json out;
  out["collector"] = name();
  out["launches_per_second"] = options_.launches_per_second;
  out["max_share"] = options_.max_share;
  out["repeats"] = options_.repeats;
  out["launches"] = Json::object();
  for (const auto& [what, count] : counts_) out["launches"][what] = count;
  out["held_up_s"] = static_cast<double>(held_ns_) * 1e-9;
  out["given_up"] = given_up_.load();
  return out;
}

}  // namespace warpmeter
