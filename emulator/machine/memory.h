// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace emulator {

enum class MemoryKind : std::uint8_t { device, host, registered, managed, code };

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;  // owner; of host memory: the device that was current
  bool freed = false;
  std::uint64_t number = 0;  // counts allocations, for messages
  // All of it: nothing needs to be known of its bytes.
  mutable bool initialized = false;

  bool on_host() const { return kind == MemoryKind::host || kind == MemoryKind::registered; }
};

// All memory that kernels can address. A device address is the host address of the same byte. The
// addresses of freed memory are never handed out again, so that a use after free is found.
class Memory {
 public:
  Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // Zero-filled, at a multiple of 512 B. Returns 0 if the device has too little left.
  std::uint64_t allocate(std::uint64_t bytes, MemoryKind kind, int device);
  void release(std::uint64_t begin);
  void release_all(int device);  // of kind `device`
  // Memory that somebody else allocated. False if it overlaps registered memory.
  bool add(std::uint64_t begin, std::uint64_t bytes, int device);
  void remove(std::uint64_t begin);

  // The allocation around `address`, freed ones included; null if there never was one.
  const Allocation* find(std::uint64_t address) const;
  const Allocation* live(std::uint64_t address) const;
  // "4096 B at 0x..., allocated as number 3, freed": of the allocation at or before `address`.
  std::string describe(std::uint64_t address) const;

  // Bytes that a copy or a fill wrote, in any memory; that a kernel wrote, in memory that is not
  // known to be initialized; and whether any of up to 32 bytes of such memory has been written.
  void note_written(std::uint64_t address, std::uint64_t bytes) const;
  void mark(std::uint64_t address, std::uint64_t bytes) const;
  bool any_written(std::uint64_t address, std::uint32_t bytes) const;

  std::uint64_t used(int device) const;
  // Changes whenever an allocation ends; found allocations are valid as long as it stays.
  std::uint64_t generation() const { return generation_; }
  void forget_found() { ++generation_; }
  // Addresses for cache sets, which must not depend on where the arena was mapped.
  std::uint64_t origin() const { return arena_; }
  std::uint64_t physical(std::uint64_t address) const { return address - arena_; }

 private:
  std::uint64_t arena_ = 0;
  std::uint8_t* written_ = nullptr;  // a bit per byte of the arena
  std::uint64_t next_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t generation_ = 1;
  std::map<std::uint64_t, Allocation> allocations_;  // by begin
  std::map<int, std::uint64_t> used_;
};

// The process's; outlives the destructors of its users.
inline Memory& memory() {
  static Memory* const instance = new Memory();
  return *instance;
}

}  // namespace emulator
