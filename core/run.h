// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/facts.h"
#include "core/measurement.h"

namespace warpmeter {

// Where the numbers of a document come from. They never mix unmarked.
enum class Source { measured, emulated, published, imported };

std::string_view to_string(Source source);
Source parse_source(std::string_view text);  // Throws InputError on any other text.

// A run document, schema warpmeter.run/1 (results/schema/run.schema.json).
struct Run {
  Source source = Source::measured;
  Json tool = Json::object();  // name, version, git, dirty, argv, utc_time
  Json host = Json::object();  // hostname hash, kernel, governor, load, other tenants: provenance.h
  std::string device;          // "cpu", "cuda:0", or the product's name in a published run
  Facts facts;                 // of the device
  bool complete = true;        // false if it was interrupted
  std::vector<Measurement> measurements;
};

inline constexpr std::string_view run_schema = "warpmeter.run/1";

Json to_json(const Run& run);
Run run_from_json(
    const Json& document,
    std::string_view where);  // Throws InputError: schema, unit, verdict, type, duplicate id.
Run load_run(const std::filesystem::path& file);
void save_run(const std::filesystem::path& file, const Run& run);

const Measurement* find(const Run& run, std::string_view id);
std::vector<const Measurement*> with_quantity(const Run& run, std::string_view quantity);

}  // namespace warpmeter
