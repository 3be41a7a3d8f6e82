// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/stream_set.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "kernels/host/random.h"
#include "kernels/host/stream.h"

namespace warpmeter {

namespace {

constexpr std::size_t unit_count = StreamSet::unit_bytes / sizeof(double);

// A power of two, so that fused and separate rounding agree.
constexpr double scale = 0.5;
constexpr double written = 1.7182818284590452;

}  // namespace

std::size_t array_count(StreamKind kind) {
  switch (kind) {
    case StreamKind::copy:
      return 2;
    case StreamKind::triad:
      return 3;
    default:
      return 1;
  }
}

StreamSet::StreamSet(StreamKind kind, StoreKind stores, std::size_t units)
    : kind_(kind),
      stores_(stores),
      units_(units),
      pages_(units * unit_bytes * array_count(kind), PageKind::huge) {}

// Sources come last; the destination of a copy or triad is array 0.
double* StreamSet::array(std::size_t index) const {
  return reinterpret_cast<double*>(pages_.data() + index * units_ * unit_bytes);
}

void StreamSet::prepare(std::uint64_t seed) {
  pages_.populate(0, 1);
  pages_.require_kind();
  const std::size_t first = kind_ == StreamKind::read ? 0 : 1;
  const std::size_t count = units_ * unit_count;
  Random random(seed);
  std::uint64_t sum = 0;
  for (std::size_t index = first; index < array_count(kind_); ++index) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = std::bit_cast<std::uint64_t>(1.0) | random.next() >> 12;
      array(index)[i] = std::bit_cast<double>(bits);
      sum += bits;
    }
  }
  stream(0, units_, 1);
  if (!matches() || (kind_ == StreamKind::read && sink_ != sum))
    throw std::runtime_error("corrupt: a stream differs from its scalar reference");
}

bool StreamSet::matches() const {
  const double *to = array(0), *left = array(1), *right = array(2);
  std::size_t wrong = 0;
  const std::size_t count = units_ * unit_count;
  switch (kind_) {
    case StreamKind::read:  // its sum was checked
      break;
    case StreamKind::write:
      for (std::size_t i = 0; i < count; ++i) wrong += to[i] != written;
      break;
    case StreamKind::copy:
      for (std::size_t i = 0; i < count; ++i) wrong += to[i] != left[i];
      break;
    case StreamKind::triad:
      for (std::size_t i = 0; i < count; ++i) wrong += to[i] != left[i] + scale * right[i];
      break;
  }
  return wrong == 0;
}

void StreamSet::run(std::size_t units) {
  if (at_ == 0 && units >= units_) {
    stream(0, units_, units / units_);
    units %= units_;
  }
  while (units != 0) {
    const std::size_t piece = std::min(units, units_ - at_);
    stream(at_, piece, 1);
    at_ = (at_ + piece) % units_;
    units -= piece;
  }
}

void StreamSet::stream(std::size_t first_unit, std::size_t units, std::size_t passes) {
  const std::size_t from = first_unit * unit_count;
  const std::size_t count = units * unit_count;
  const bool streamed = stores_ == StoreKind::non_temporal;
  switch (kind_) {
    case StreamKind::read:
      sink_ = stream_read(array(0) + from, count, passes);
      break;
    case StreamKind::write:
      (streamed ? stream_write_nt : stream_write)(array(0) + from, written, count, passes);
      break;
    case StreamKind::copy:
      (streamed ? stream_copy_nt : stream_copy)(array(0) + from, array(1) + from, count, passes);
      break;
    case StreamKind::triad:
      stream_triad(array(0) + from, array(1) + from, array(2) + from, scale, count, passes);
      break;
  }
}

}  // namespace warpmeter
