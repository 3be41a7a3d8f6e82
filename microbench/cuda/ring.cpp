// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/ring.h"

#include <random>

#include "kernels/micro/fill.h"
#include "microbench/cuda/cycle.h"

namespace warpmeter {
namespace {

constexpr std::uint32_t page_lines = (2u << 20) / chase_stride;  // CUDA maps 2 MiB pages
constexpr std::uint32_t sector = 32;                             // B

std::uint32_t units(std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / link_unit); }

Ring spaced(std::vector<std::uint32_t> next, std::uint32_t stride, std::size_t bytes) {
  Ring ring;
  ring.next = std::move(next);
  ring.bytes = bytes;
  for (std::uint64_t i = 0; i < ring.next.size(); ++i) ring.offset.push_back(units(i * stride));
  return ring;
}

std::uint32_t count(std::size_t bytes, std::uint32_t stride) {
  return static_cast<std::uint32_t>(bytes / stride);
}

}  // namespace

Ring random_ring(std::size_t bytes, std::uint64_t seed) {
  return spaced(random_cycle(count(bytes, chase_stride), seed), chase_stride, bytes);
}

Ring paged_ring(std::size_t bytes, std::uint64_t seed) {
  return spaced(grouped_cycle(count(bytes, chase_stride), page_lines, seed), chase_stride, bytes);
}

Ring sparse_ring(std::size_t bytes, std::uint64_t seed) {
  Ring ring = spaced(random_cycle(count(bytes, sparse_stride), seed), sparse_stride, bytes);
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint32_t> place(0, sparse_stride / sector - 1);
  for (std::uint32_t& offset : ring.offset) offset += units(std::uint64_t{sector} * place(random));
  return ring;
}

Ring pair_ring(std::size_t bytes, std::uint32_t distance, std::uint64_t seed) {
  const std::vector<std::uint32_t> cycle = random_cycle(count(bytes, pair_stride), seed);
  Ring ring;
  ring.bytes = bytes;
  for (std::uint64_t i = 0; i < cycle.size(); ++i) {
    ring.offset.push_back(units(i * pair_stride));
    ring.offset.push_back(units(i * pair_stride + distance));
    ring.next.push_back(static_cast<std::uint32_t>(2 * i + 1));
    ring.next.push_back(2 * cycle[i]);
  }
  return ring;
}

}  // namespace warpmeter
