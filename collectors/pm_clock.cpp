// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pm_clock.h"

#include <algorithm>
#include <limits>

#include "collectors/clock.h"

namespace warpmeter {

void PmClock::read() {
  Reading best;
  std::int64_t width = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 10; ++i) {
    std::uint64_t cupti = 0;
    const std::int64_t before = monotonic_ns();
    check_cupti(api_.cuptiGetTimestamp(&cupti), "pm", "cuptiGetTimestamp");
    const std::int64_t after = monotonic_ns();
    if (after - before >= width) continue;
    width = after - before;
    best.cupti = static_cast<std::int64_t>(cupti);
    const bool same = virtual_time_ || (before <= best.cupti && best.cupti <= after);
    best.offset = same ? 0 : before + width / 2 - best.cupti;
  }
  before_ = any_ ? last_ : best;
  last_ = best;
  any_ = true;
  uncertainty_ = std::max(uncertainty_, width - width / 2);
}

std::int64_t PmClock::to_host(std::uint64_t cupti_ns) const {
  const auto time = static_cast<std::int64_t>(cupti_ns);
  if (time <= before_.cupti || last_.cupti <= before_.cupti)
    return time + (time <= before_.cupti ? before_.offset : last_.offset);
  if (time >= last_.cupti) return time + last_.offset;
  const double share =
      static_cast<double>(time - before_.cupti) / static_cast<double>(last_.cupti - before_.cupti);
  const auto change = static_cast<double>(last_.offset - before_.offset);
  return time + before_.offset + static_cast<std::int64_t>(share * change);
}

}  // namespace warpmeter
