// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cupti.h>

#include <nlohmann/json.hpp>
#include <string>

namespace client {

using Json = nlohmann::ordered_json;

std::string variable(const char* name);  // of the environment; "" if it is not set
void write(const Json& line);
void profile(const std::string& mode);                    // counters instead of records
CUptiResult check(CUptiResult result, const char* call);  // writes what fails

}  // namespace client
