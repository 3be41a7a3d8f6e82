// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

namespace warpmeter::test {

// A published curve by rising x, in the units of its file (bytes or kB, cycles or GB/s, s).
struct FieldCurve {
  std::vector<double> x, y;
};

// Latency or bandwidth against footprint of one of the formats under shared/reference/raw: `file`
// as named in expected_plateaus.json. Throws std::runtime_error if it cannot be read.
FieldCurve read_plateau_curve(const std::string& file);

// Time [s] against bytes of a gpu-small-kernels table: the best block size of each row, which reads
// and writes one double per element.
FieldCurve read_small_kernels(const std::string& file);

// The text of a file under WARPMETER_SHARED_DATA.
std::string read_shared(const std::string& path);

}  // namespace warpmeter::test
