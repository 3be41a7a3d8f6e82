// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "collectors/nvtx_event.h"
#include "collectors/nvtx_payload.h"

namespace warpmeter {

// What the program has named: once each, so behind one mutex. Texts are UTF-8. Handles are numbers
// from 1: those that NVTX hands out for domains and strings are pointers that nobody follows.
class NvtxNames {
 public:
  // The same text has the same handle, so that copies of NVTX in several libraries agree. 0 if
  // there are too many, which is counted.
  std::uint32_t domain(std::string_view name);
  std::uint32_t register_string(std::string_view text);
  std::uint64_t register_schema(NvtxSchema schema, std::uint64_t id);  // id 0: chosen here
  void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name);
  void name_thread(std::uint32_t thread, std::string_view name);

  // Empty for a handle that was not given out. The text lives as long as this.
  std::string_view domain_name(std::uint32_t handle) const;
  std::string_view registered(std::uint32_t handle) const;
  // Its number if it has no name.
  std::string category(std::uint32_t domain, std::uint32_t category) const;
  std::map<std::uint32_t, std::string> threads() const;

  // JSON text of a payload that is not `none`.
  std::string payload(NvtxPayload form, std::uint64_t bits, std::span<const std::byte> bytes) const;
  // Bytes of a payload of this schema; 0: not known.
  std::size_t schema_size(std::uint64_t id) const;

  std::uint64_t take_refused();

  void lock() { mutex_.lock(); }  // over a fork
  void unlock() { mutex_.unlock(); }

 private:
  std::uint32_t intern(std::deque<std::string>& texts,
                       std::unordered_map<std::string_view, std::uint32_t>& handles,
                       std::string_view text);
  static std::string_view text_of(const std::deque<std::string>& texts, std::uint32_t handle);

  mutable std::mutex mutex_;
  std::deque<std::string> domains_, strings_;
  std::unordered_map<std::string_view, std::uint32_t> domain_handles_, string_handles_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories_;
  std::map<std::uint32_t, std::string> threads_;
  NvtxSchemas schemas_;
  std::size_t text_bytes_ = 0;  // of domains_ and strings_
  std::uint64_t refused_ = 0;
};

}  // namespace warpmeter
