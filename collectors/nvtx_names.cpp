// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_names.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace warpmeter {
namespace {

constexpr std::size_t max_names = std::size_t{1} << 20;  // of each kind
constexpr std::size_t max_text = std::size_t{64} << 20;  // bytes, domains and strings together
constexpr std::uint64_t first_schema = std::uint64_t{1} << 32;  // as NVTX reserves it for tools

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json plain(NvtxPayload form, std::uint64_t bits) {
  if (form == NvtxPayload::int64) return static_cast<std::int64_t>(bits);
  if (form == NvtxPayload::uint64) return bits;
  const auto value = std::bit_cast<double>(bits);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace

std::uint32_t NvtxNames::intern(std::deque<std::string>& texts,
                                std::unordered_map<std::string_view, std::uint32_t>& handles,
                                std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = handles.find(text); found != handles.end()) return found->second;
  if (texts.size() == max_names || text_bytes_ + text.size() > max_text) {
    ++refused_;
    return 0;
  }
  text_bytes_ += text.size();
  const std::string& kept = texts.emplace_back(text);
  return handles[kept] = static_cast<std::uint32_t>(texts.size());
}

std::uint32_t NvtxNames::domain(std::string_view name) {
  return intern(domains_, domain_handles_, name);
}

std::uint32_t NvtxNames::register_string(std::string_view text) {
  return intern(strings_, string_handles_, text);
}

std::uint64_t NvtxNames::register_schema(NvtxSchema schema, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (schemas_.size() == max_names) {
    ++refused_;
    return 0;
  }
  if (id == 0) id = first_schema + schemas_.size();
  schemas_[id] = std::move(schema);
  return id;
}

void NvtxNames::name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (categories_.size() < max_names)
    categories_[{domain, category}] = name;
  else
    ++refused_;
}

void NvtxNames::name_thread(std::uint32_t thread, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (threads_.size() < max_names)
    threads_[thread] = name;
  else
    ++refused_;
}

std::string_view NvtxNames::text_of(const std::deque<std::string>& texts, std::uint32_t handle) {
  return handle == 0 || handle > texts.size() ? std::string_view() : texts[handle - 1];
}

std::string_view NvtxNames::domain_name(std::uint32_t handle) const {
  const std::lock_guard lock(mutex_);
  return text_of(domains_, handle);
}

std::string_view NvtxNames::registered(std::uint32_t handle) const {
  const std::lock_guard lock(mutex_);
  return text_of(strings_, handle);
}

std::string NvtxNames::category(std::uint32_t domain, std::uint32_t category) const {
  const std::lock_guard lock(mutex_);
  const auto found = categories_.find({domain, category});
  return found == categories_.end() ? std::to_string(category) : found->second;
}

std::map<std::uint32_t, std::string> NvtxNames::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

std::size_t NvtxNames::schema_size(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return nvtx_type_size(schemas_, id);
}

std::string NvtxNames::payload(NvtxPayload form, std::uint64_t bits,
                               std::span<const std::byte> bytes) const {
  if (form != NvtxPayload::blobs) return dump(plain(form, bits));
  const std::lock_guard lock(mutex_);
  const auto registered = [this](std::uint64_t handle) {
    return text_of(strings_, static_cast<std::uint32_t>(handle));
  };
  Json all = Json::array();
  while (bytes.size() >= sizeof(NvtxBlob)) {
    NvtxBlob blob{};
    std::memcpy(&blob, bytes.data(), sizeof(blob));
    bytes = bytes.subspan(sizeof(blob));
    all.push_back(blob.kept == blob.declared
                      ? nvtx_payload_json(schemas_, blob.schema, bytes.first(blob.kept), registered)
                      : nvtx_opaque_payload(blob.schema, blob.declared));
    bytes = bytes.subspan(blob.kept);
  }
  return dump(all.size() == 1 ? all[0] : all);
}

std::uint64_t NvtxNames::take_refused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_, 0);
}

}  // namespace warpmeter
