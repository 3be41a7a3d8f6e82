// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pm_sampling.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "collectors/clock.h"
#include "core/error.h"

namespace warpmeter {

PmCollector::PmCollector(const Target& target, const PmOptions& options)
    : process_id_(target.process_id), options_(options) {
  if (target.cupti == nullptr) throw InputError("pm: there is no CUPTI in this process");
  if (target.devices.empty()) throw InputError("pm: there is no CUDA device");
  const Catalogue& catalogue = Catalogue::built_in();
  use_ = std::make_unique<CuptiProfilerUse>(*target.cupti, "pm");
  std::string first_refusal;
  for (std::size_t i = 0; i < target.devices.size(); ++i) {
    try {
      auto sampler =
          std::make_unique<PmSampler>(*target.cupti, target.devices[i], i, catalogue, options);
      devices_.push_back({target.devices[i], std::move(sampler), "", {}, 0, {}, {}});
    } catch (const InputError& error) {
      if (first_refusal.empty()) first_refusal = error.what();
      refused_.push_back({{"device", i}, {"reason", error.what()}});
    }
  }
  if (devices_.empty()) throw InputError(first_refusal);
}

PmCollector::~PmCollector() { disarm(); }

void PmCollector::arm() {
  if (thread_.joinable()) return;
  std::string refusal;
  bool any = false;
  for (Device& device : devices_) {
    std::string failure;
    try {
      const std::lock_guard lock(sampler_mutex_);
      device.sampler->start();
      any = true;
    } catch (const InputError& error) {
      failure = refusal = error.what();
    }
    const std::lock_guard lock(mutex_);
    device.failure = failure;
    if (failure.empty()) continue;
    device.output.losses.push_back({"samples", failure, std::nullopt, monotonic_ns(), {}});
  }
  if (!any) {
    const std::lock_guard lock(mutex_);
    for (Device& device : devices_) device.output = {};  // the caller is told by the exception
    throw InputError(refusal);
  }
  stop_ = false;
  thread_ = std::thread([this] { decode_loop(); });
}

void PmCollector::disarm() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  for (Device& device : devices_) {
    PmOutput output;
    {
      const std::lock_guard lock(sampler_mutex_);
      device.sampler->stop(output);
    }
    const std::lock_guard lock(mutex_);
    hand_over(device, output);
  }
}

void PmCollector::decode_loop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, std::chrono::milliseconds(options_.decode_period_ms));
    for (Device& device : devices_) {
      if (stop_ || !device.failure.empty()) continue;
      lock.unlock();
      PmOutput output;
      std::string failure;
      {
        const std::lock_guard sampler_lock(sampler_mutex_);
        try {
          device.sampler->decode(output);
        } catch (const std::exception& error) {
          failure = error.what();
          device.sampler->stop(output);
        }
      }
      lock.lock();
      if (!failure.empty())
        output.losses.push_back({"samples", failure, std::nullopt, monotonic_ns(), {}});
      device.failure = failure;
      hand_over(device, output);
    }
  }
}

void PmCollector::hand_over(Device& device, PmOutput& output) {
  const std::size_t per_sample = device.sampler->plan().counters.size();
  bool gap = false;
  for (PmSample& sample : output.samples) {
    if ((device.output.samples.size() + 1) * per_sample > options_.most_queued) {
      ++device.dropped;
      if (!device.drop_from) device.drop_from = sample.start_ns;
      device.drop_to = sample.end_ns;
      gap = true;
      continue;
    }
    sample.follows_gap = sample.follows_gap || gap || device.drop_to == sample.start_ns;
    gap = false;
    device.output.samples.push_back(std::move(sample));
  }
  for (PmLoss& loss : output.losses) device.output.losses.push_back(std::move(loss));
  for (PmImage& image : output.images) device.output.images.push_back(std::move(image));
}

std::size_t PmCollector::write(RowSink& sink, const Device& device, PmOutput& output) const {
  std::size_t rows = 0;
  const auto& counters = device.sampler->plan().counters;
  std::vector<std::int64_t> ids;
  for (const PmCounter& counter : counters) ids.push_back(sink.string(counter.metric->id));
  const auto add = [&](std::int64_t time, std::size_t i, std::optional<double> value) {
    sink.add(SampleRow{process_id_, device.target.row_id, time, ids[i], value,
                       to_string(counters[i].metric->unit), "pm"});
    ++rows;
  };
  for (const PmSample& sample : output.samples) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // The row before says where an interval begins: after a gap it is one without a value.
      if (sample.follows_gap) add(sample.start_ns, i, std::nullopt);
      const double value = sample.values[i] * counters[i].metric->scale;
      add(sample.end_ns, i, std::isfinite(value) ? std::optional(value) : std::nullopt);
    }
  }
  for (const PmLoss& loss : output.losses) {
    sink.add(
        LossRow{process_id_, "pm", loss.what, loss.count, loss.from_ns, loss.to_ns, loss.reason});
    ++rows;
  }
  for (const PmImage& image : output.images) {
    sink.add(ImageRow{process_id_, device.target.row_id, device.target.chip, image.kind,
                      std::as_bytes(std::span(image.data))});
    ++rows;
  }
  return rows;
}

std::size_t PmCollector::drain(RowSink& sink) {
  std::size_t rows = 0;
  for (Device& device : devices_) {
    PmOutput output;
    {
      const std::lock_guard lock(mutex_);
      std::swap(output, device.output);
      if (device.dropped != 0)
        output.losses.push_back({"samples", "the writer did not keep up", device.dropped,
                                 device.drop_from, device.drop_to});
      device.dropped = 0;
      device.drop_from.reset();
    }
    rows += write(sink, device, output);
  }
  return rows;
}

Json PmCollector::describe() const {
  Json devices = Json::array();
  for (const Device& device : devices_) {
    Json described;
    {
      const std::lock_guard lock(sampler_mutex_);
      described = device.sampler->describe();
    }
    const std::lock_guard lock(mutex_);
    if (!device.failure.empty()) described["failure"] = device.failure;
    devices.push_back(described);
  }
  return {{"set", options_.set},
          {"interval_ns", options_.interval_ns},
          {"append", options_.keep_latest ? "latest" : "oldest"},
          {"hardware_buffer_bytes", options_.hardware_buffer_bytes},
          {"scope", "device"},
          {"devices", devices},
          {"refused", refused_}};
}

}  // namespace warpmeter
