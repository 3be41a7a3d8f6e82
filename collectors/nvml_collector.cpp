// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_collector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectors/clock.h"
#include "core/error.h"

namespace warpmeter {
namespace {

using Steady = std::chrono::steady_clock;

// A backlog of some seconds, whatever the number of devices.
constexpr std::size_t buffers = 128, readings_of_buffer = 512;

double seconds(Steady::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

const NvmlApi& nvml_or_throw() {
  std::string why;
  const NvmlApi* nvml = open_nvml(why);
  if (nvml == nullptr)
    throw InputError("nvml: " + why + "; it comes with the driver: mount it into the container");
  return *nvml;
}

}  // namespace

void NvmlCollector::Clock::add(double value) {
  low = readings == 0 ? value : std::min(low, value);
  high = readings == 0 ? value : std::max(high, value);
  if (readings > 0 && value != last) ++changes;
  last = value;
  ++readings;
}

NvmlCollector::NvmlCollector(const Target& target, NvmlOptions options)
    : target_(target), options_(options), pool_(buffers, readings_of_buffer) {
  if (options_.interval.count() <= 0) throw InputError("nvml: the interval must be at least 1 ms");
  const NvmlApi& nvml = nvml_or_throw();
  for (std::size_t i = 0; i < target_.devices.size(); ++i) {
    try {
      devices_.emplace_back(i, NvmlSampler(nvml, target_.devices[i].uuid, options_.gpm));
    } catch (const InputError& error) {
      not_known_.push_back(error.what());
    }
  }
  if (devices_.empty())
    throw InputError(not_known_.empty() ? "nvml: the process has no devices"
                                        : fmt::format("{}", fmt::join(not_known_, "; ")));
}

void NvmlCollector::arm() {
  if (thread_.joinable()) return;
  stop_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw InputError(fmt::format("nvml: no thread: {}; raise the limit of threads", error.what()));
  }
}

void NvmlCollector::disarm() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void NvmlCollector::run() {
  RecordPool<NvmlReading>::Producer producer(pool_);
  const Steady::time_point begin = Steady::now();
  Steady::time_point next = begin;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    const Steady::time_point now = Steady::now();
    sample_all(producer);
    lock.lock();
    ++samples_;
    busy_s_ += seconds(Steady::now() - now);
    next += options_.interval;
    if (next < Steady::now()) {  // readings took longer than the interval: no burst follows
      ++late_;
      next = Steady::now();
    }
    wake_.wait_until(lock, next, [this] { return stop_; });
  }
  armed_s_ += seconds(Steady::now() - begin);
}

void NvmlCollector::sample_all(RecordPool<NvmlReading>::Producer& producer) {
  std::vector<NvmlReading> readings;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    readings.clear();
    devices_[i].sampler.sample(static_cast<std::uint64_t>(monotonic_ns()),
                               static_cast<std::uint16_t>(i),
                               [&](const NvmlReading& reading) { readings.push_back(reading); });
    for (const NvmlReading& reading : readings) producer.append(reading);
    note(devices_[i], readings);
  }
  producer.flush();
}

void NvmlCollector::note(Device& device, const std::vector<NvmlReading>& readings) {
  std::vector<NvmlFailure> failures = device.sampler.take_failures();
  const std::lock_guard lock(mutex_);
  for (const NvmlReading& reading : readings) {
    if (!reading.known) continue;
    if (reading.quantity == quantity_clock_sm) device.sm.add(reading.value);
    if (reading.quantity == quantity_clock_memory) device.memory.add(reading.value);
    if (reading.quantity != quantity_clock_reasons) continue;
    const auto bits = static_cast<unsigned long long>(reading.value);
    for (const auto& [bit, name] : nvml_clock_reasons)
      if ((bits & bit) != 0) ++device.reasons[name];
  }
  device.lost = device.sampler.gone();
  for (NvmlFailure& failure : failures) {
    if (failure.final) device.not_read[failure.what] = failure.reason;
    device.failures.push_back(std::move(failure));
  }
}

std::size_t NvmlCollector::drain(RowSink& sink) {
  std::size_t rows = drain_losses(sink);
  const auto write = [&](std::span<const NvmlReading> readings) {
    for (const NvmlReading& reading : readings) {
      const NvmlQuantity& quantity = nvml_quantities()[reading.quantity];
      SampleRow row;
      row.process_id = target_.process_id;
      row.device_id = target_.devices[devices_[reading.device].index].row_id;
      row.time_ns = static_cast<std::int64_t>(reading.start_ns);
      row.metric_id = sink.string(quantity.name);
      if (reading.known) row.value = reading.value;
      row.unit = to_string(quantity.unit);
      row.source = quantity.source();
      sink.add(row);
      ++rows;
    }
  };
  while (pool_.drain_one(write, std::chrono::milliseconds(0))) {
  }
  return rows;
}

std::size_t NvmlCollector::drain_losses(RowSink& sink) {
  std::size_t rows = 0;
  const auto lose = [&](const std::string& what, const std::string& reason, std::uint64_t count,
                        std::uint64_t from_ns, std::uint64_t to_ns) {
    LossRow row;
    row.process_id = target_.process_id;
    row.collector = name();
    row.what = what;
    row.count = static_cast<std::int64_t>(count);
    row.from_ns = static_cast<std::int64_t>(from_ns);
    row.to_ns = static_cast<std::int64_t>(to_ns);
    row.reason = reason;
    sink.add(row);
    ++rows;
  };
  for (Device& device : devices_) {
    std::vector<NvmlFailure> failures;
    {
      const std::lock_guard lock(mutex_);
      failures.swap(device.failures);
    }
    const std::string& uuid = target_.devices[device.index].uuid;
    for (const NvmlFailure& f : failures)
      lose(fmt::format("{} of {}", f.what, uuid),
           f.final ? f.reason + "; not asked for again" : f.reason, f.count, f.from_ns, f.to_ns);
  }
  if (const DroppedRecords dropped = pool_.take_dropped(); dropped.count > 0)
    lose("samples", "the writer was too slow", dropped.count, dropped.from_ns, dropped.to_ns);
  return rows;
}

Json NvmlCollector::describe(const Device& device) const {
  const auto clock = [](const Clock& c) {
    if (c.readings == 0) return Json();
    return Json{{"low", c.low}, {"high", c.high}, {"changes", c.changes}};
  };
  Json result{{"uuid", target_.devices[device.index].uuid}};
  if (device.sampler.on_mig_instance()) result["whole_gpu_of_mig"] = true;
  const std::string& gpm = device.sampler.gpm_reason();
  result["gpm"] = gpm.empty() ? "sampled" : gpm;
  result["clock_sm"] = clock(device.sm);
  result["clock_memory"] = clock(device.memory);
  result["clock_reasons"] = device.reasons;
  result["lost"] = device.lost;
  result["not_read"] = device.not_read;
  return result;
}

Json NvmlCollector::describe() const {
  const std::lock_guard lock(mutex_);
  Json devices = Json::array();
  for (const Device& device : devices_) devices.push_back(describe(device));
  return {{"interval", 1e-3 * static_cast<double>(options_.interval.count())},
          {"samples", samples_},
          {"late", late_},
          {"busy", armed_s_ > 0 ? Json(busy_s_ / armed_s_) : Json()},
          {"devices", devices},
          {"not_known", not_known_}};
}

}  // namespace warpmeter
