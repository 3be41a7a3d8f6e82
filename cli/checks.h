// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "core/json.h"

namespace warpmeter {

// One thing that decides what can be measured here. status: "ok", "limited" (measured with a
// caveat) or "missing" (something cannot be measured); the remedy is empty where nothing needs to
// be done.
struct Check {
  std::string name;
  std::string status;
  std::string detail;
  std::string remedy;
};

std::vector<Check> check_host(const Device& host);
std::vector<Check> check_gpus();

Json to_json(const std::vector<Check>& checks);

}  // namespace warpmeter
