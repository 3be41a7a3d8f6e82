// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace warpmeter {

// What the NVTX ranges around a kernel tell an attached profiler, in the domain "warpmeter". The
// message is the kernel's id, with " check" for the execution that is verified. The payload is a
// static schema, registered under the id, of
//   kernel, and the words of the point but those that repeat it (kernel, family, split): strings
//   of at most 47 bytes, embedded in 48
//   executions: u64, of the range
//   the numbers of the point (m, n, k, count, ...): i64
//   ops.TYPE for each type, bytes_read, bytes_written, working_set, launches: f64, of one execution
// Without a tool nothing is registered, and a range is one look at a flag that NVTX keeps.
class KernelLabel {
 public:
  KernelLabel() = default;  // no ranges
  KernelLabel(const std::string& id, const Parameters& point, const Work& work);

 private:
  friend class KernelRange;
  bool enabled_ = false;
  std::uint64_t schema_ = 0;
  std::string message_, check_message_;
  std::vector<std::byte> payload_;
  std::size_t executions_at_ = 0;  // offset in the payload
};

// A range from construction to destruction, on the calling thread.
class KernelRange {
 public:
  enum class What { check, sample };
  KernelRange(const KernelLabel& label, What what, int executions);
  ~KernelRange();
  KernelRange(const KernelRange&) = delete;
  KernelRange& operator=(const KernelRange&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace warpmeter
