// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/pinned.h"

#include <cuda_runtime_api.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "cuda/check.h"

namespace warpmeter {
namespace {

// Asks for the node before first touch. A refusal (container without CAP_SYS_NICE, kernel without
// NUMA) is not an error: placement() reports what was got.
void prefer_node(void* memory, std::size_t bytes, int node) {
  constexpr int bits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 16> mask{};
  if (node < 0 || node >= bits * static_cast<int>(mask.size())) return;
  mask[static_cast<std::size_t>(node / bits)] = 1UL << (node % bits);
  (void)syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, mask.data(), bits * mask.size(), 0);
}

}  // namespace

PinnedBuffer::PinnedBuffer(std::size_t bytes, std::optional<int> node)
    : bytes_(bytes), node_(node) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap of host memory for copies");
  }
  if (node) prefer_node(memory, bytes, *node);
  std::memset(memory, 0, bytes);  // first touch: here the pages get their place
  const cudaError_t status =
      cudaHostRegister(memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
  if (status != cudaSuccess) {
    munmap(memory, bytes);
    GPU_CHECK(status);
  }
  memory_ = memory;
  const cudaError_t mapped = cudaHostGetDevicePointer(&device_, memory, 0);
  if (mapped != cudaSuccess) {
    (void)cudaHostUnregister(memory);
    munmap(memory, bytes);
    GPU_CHECK(mapped);
  }
}

PinnedBuffer::~PinnedBuffer() {
  if (memory_ == nullptr) return;
  (void)cudaHostUnregister(memory_);
  munmap(memory_, bytes_);
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      device_(std::exchange(other.device_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      node_(other.node_) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(device_, other.device_);
  std::swap(bytes_, other.bytes_);
  std::swap(node_, other.node_);
  return *this;
}

Json PinnedBuffer::placement() const {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t probes = 64;
  std::array<void*, probes> pages{};
  std::array<int, probes> nodes{};
  const std::size_t step = (bytes_ / probes) & ~(page - 1);
  const std::size_t count = step == 0 ? 1 : probes;
  for (std::size_t i = 0; i < count; ++i) pages[i] = static_cast<char*>(memory_) + i * step;
  std::set<int> seen;
  if (syscall(SYS_move_pages, 0, count, pages.data(), nullptr, nodes.data(), 0) == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      if (nodes[i] >= 0) seen.insert(nodes[i]);  // negative: that page's place is not known
    }
  }
  Json result = Json::object();
  result["numa_node_asked"] = node_ ? Json(*node_) : Json();
  result["numa_nodes_seen"] = seen.empty() ? Json() : Json(seen);
  result["page_size"] = page;
  return result;
}

}  // namespace warpmeter
