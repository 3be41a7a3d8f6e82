// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of Session that decides what collects, and when.
#include <fmt/format.h>

#include <fstream>

#include "collectors/activity_collector.h"
#include "collectors/clock.h"
#include "collectors/driver.h"
#include "core/error.h"
#include "profiler/profile_writer.h"
#include "profiler/session.h"

namespace warpmeter {
// cuInit has called us, so that the driver is there; the gate waits until it is done.
void Session::learn_devices() {
  DriverGate gate = pass_driver_gate();
  if (!gate.passed()) {
    refuse("timeline", gate.why);
    leave_note(options_.folder, gate.why);
    cuda_ = false;
    return;
  }
  target_.cupti = cupti_.get();
  target_.devices = gate.devices;
  for (std::size_t i = 0; i < target_.devices.size(); ++i) {
    TargetDevice& device = target_.devices[i];
    device.chip = chip_name(*cupti_, i);
    DeviceRow row;
    row.ordinal = static_cast<std::int64_t>(i);
    if (!device.uuid.empty()) row.uuid = device.uuid;
    row.name = device.name;
    if (!device.chip.empty()) row.chip = device.chip;
    device.row_id = store_->add(row);
  }
  timeline_->set_target(target_);
  devices_known_ = true;
  if (!armed_) timeline_->disarm();
  add_device_collectors(gate);
}

// "arm" or "disarm" in FOLDER/control; what it said before counts until it says something else.
void Session::follow_control_file() {
  std::ifstream file(options_.folder / "control");
  std::string word;
  if (!(file >> word) || word == control_) return;
  control_ = word;
  if (word == "arm" || word == "disarm")
    arm(word == "arm");
  else
    leave_note(options_.folder, fmt::format("control: \"{}\" is neither arm nor disarm", word));
}

void Session::arm(bool on) {
  if (on == armed_) return;
  abandon_round("armed or disarmed from outside");
  armed_ = on;
  if (on && options_.duration_s && !was_armed_)
    disarm_at_ns_ = monotonic_ns() + static_cast<std::int64_t>(*options_.duration_s * 1e9);
  was_armed_ |= on;
  set_collecting(on);
}

void Session::set_collecting(bool on) {
  const auto apply = [&](Collector& collector) {
    if (shed_.contains(std::string(collector.name()))) return;
    try {
      if (on)
        collector.arm();
      else
        collector.disarm();
    } catch (const InputError& error) {
      refuse(std::string(collector.name()), error.what());
      leave_note(options_.folder, error.what());
    }
  };
  if (cuda_) apply(*timeline_);
  for (const auto& collector : collectors_) apply(*collector);
}

}  // namespace warpmeter
