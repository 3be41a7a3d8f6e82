// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/machine.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/error.h"

namespace warpmeter {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 7> status_names{{
    {Status::measured, "measured"},
    {Status::derived, "derived"},
    {Status::emulated, "emulated"},
    {Status::published, "published"},
    {Status::borrowed, "borrowed"},
    {Status::not_identifiable, "not_identifiable"},
    {Status::not_measured, "not_measured"},
}};

}  // namespace

std::string_view to_string(Status status) {
  for (const auto& [value, name] : status_names) {
    if (value == status) return name;
  }
  throw std::logic_error("status without a name");
}

Status parse_status(std::string_view text) {
  for (const auto& [value, name] : status_names) {
    if (name == text) return value;
  }
  throw InputError(
      fmt::format("unknown status \"{}\": expected measured, derived, emulated, published, "
                  "borrowed, not_identifiable or "
                  "not_measured",
                  text));
}

Machine load_machine(const std::filesystem::path& file) {
  return machine_from_json(read_json(file), file.string());
}

void save_machine(const std::filesystem::path& file, const Machine& machine) {
  write_json(file, to_json(machine));
}

std::optional<double> value_of(const Machine& machine, const std::string& name) {
  const auto found = machine.parameters.find(name);
  return found == machine.parameters.end() ? std::nullopt : found->second.value;
}

}  // namespace warpmeter
