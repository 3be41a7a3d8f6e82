// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>

namespace warpmeter {

// Reads what a folder holds (*.run.json, machine.json, validation.json, doctor.json; each may be
// missing) and writes report.html into it. Throws InputError if the folder holds no run and no
// machine.
std::filesystem::path write_report(const std::filesystem::path& folder);

}  // namespace warpmeter
