// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/cuda/transfer_case.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "cuda/check.h"
#include "cuda/links.h"
#include "kernels/micro/fill.h"
#include "kernels/micro/pattern.h"
#include "kernels/micro/stream.h"

namespace warpmeter {
namespace {

constexpr std::uint32_t seed = 11;

std::optional<int> numa_node(const Device& device) {
  const auto node = fact_number(device.facts, "numa.node");
  return node ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

}  // namespace

TransferCase::TransferCase(const Device& device, const std::string& direction, Engine engine,
                           std::size_t bytes)
    : session_(device), engine_(engine), bytes_(bytes) {
  const DeviceGuard guard(device.ordinal);
  near_ = DeviceBuffer(bytes);
  host_.emplace(bytes, numa_node(device));
  const Place host{engine == Engine::sm ? host_->device<void>() : host_->host<void>(), true, 0};
  const Place near{near_.as<void>(), false, device.ordinal};
  source_ = direction == "h2d" ? host : near;
  target_ = direction == "h2d" ? near : host;
  prepare();
}

TransferCase::TransferCase(const Pair& pair, Engine engine, std::size_t bytes)
    : session_(pair.from), engine_(engine), bytes_(bytes), pair_(pair) {
  // Without peer access the driver stages the copy through the host; conditions() says so.
  int possible = 0;
  GPU_CHECK(cudaDeviceCanAccessPeer(&possible, pair.from.ordinal, pair.to.ordinal));
  if (possible != 0) enable_peer_access(pair);
  {
    const DeviceGuard owner(pair.to.ordinal);
    far_ = DeviceBuffer(bytes);
  }
  const DeviceGuard guard(pair.from.ordinal);
  near_ = DeviceBuffer(bytes);
  source_ = {near_.as<void>(), false, pair.from.ordinal};
  target_ = {far_.as<void>(), false, pair.to.ordinal};
  prepare();
}

void TransferCase::prepare() {
  fill_source();
  for (int i = 0; i < 2; ++i) {
    session_.run(1, [&](cudaStream_t stream, Stamp*) { enqueue(stream); });
  }
  verify_target();
  empty_s_ = session_.bracket().empty_s(session_.stream());
}

void TransferCase::fill_source() {
  const std::size_t words = bytes_ / 4;
  if (!source_.on_host) {
    launch_fill({static_cast<std::uint32_t*>(source_.pointer), words, seed}, session_.stream());
  } else {
    auto* data = host_->host<std::uint32_t>();
    for (std::size_t i = 0; i < words; ++i) {
      data[i] = pattern_word(static_cast<std::uint32_t>(i), seed);
    }
  }
  // A copy that does nothing must not find the right data at its target.
  if (target_.on_host) {
    std::fill_n(host_->host<unsigned char>(), bytes_, static_cast<unsigned char>(0xa5));
  } else {
    const DeviceGuard owner(target_.ordinal);
    GPU_CHECK(cudaMemset(target_.pointer, 0xa5, bytes_));
    GPU_CHECK(cudaDeviceSynchronize());
  }
  GPU_CHECK(cudaStreamSynchronize(session_.stream()));
}

void TransferCase::verify_target() {
  std::vector<std::uint32_t> copy;
  const std::uint32_t* data = nullptr;
  if (target_.on_host) {
    data = host_->host<std::uint32_t>();
  } else {
    copy.resize(bytes_ / 4);
    GPU_CHECK(cudaMemcpy(copy.data(), target_.pointer, bytes_, cudaMemcpyDeviceToHost));
    data = copy.data();
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes_ / 4; ++i) {
    wrong += data[i] != pattern_word(static_cast<std::uint32_t>(i), seed);
  }
  require_correct(wrong == 0,
                  fmt::format("{} of {} words differ after the copy", wrong, bytes_ / 4));
}

void TransferCase::enqueue(cudaStream_t stream) {
  if (engine_ == Engine::sm) {
    const std::uint64_t vectors = bytes_ / 16;
    const std::uint64_t wanted = (vectors + stream_threads - 1) / stream_threads;
    const auto blocks =
        std::clamp<std::uint64_t>(wanted, 1, 2 * std::uint64_t(session_.sm_count()));
    launch_copy({static_cast<const uint4*>(source_.pointer), static_cast<uint4*>(target_.pointer),
                 vectors, 1, nullptr},
                static_cast<int>(blocks), stream);
  } else if (pair_) {
    GPU_CHECK(cudaMemcpyPeerAsync(target_.pointer, target_.ordinal, source_.pointer,
                                  source_.ordinal, bytes_, stream));
  } else {
    GPU_CHECK(cudaMemcpyAsync(target_.pointer, source_.pointer, bytes_,
                              source_.on_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                              stream));
  }
}

Sample TransferCase::sample() {
  const DeviceGuard guard(session_.ordinal());
  // Wakes the link: it may have gone to a low state while the host evaluated the last sample.
  session_.run(1, [&](cudaStream_t stream, Stamp*) { enqueue(stream); });
  const double event_s =
      session_.bracket().time(session_.stream(), [&](cudaStream_t stream) { enqueue(stream); });
  const std::string bus_id = fact_text(session_.device().facts, "pci.bus_id");
  for (const char* name : {"current_link_speed", "current_link_width"}) {
    if (const auto text = pci_attribute(bus_id, name)) link_under_load_[name] = *text;
  }
  const double seconds = event_s - empty_s_;
  if (seconds <= 0) {
    throw std::runtime_error("the copy took no longer than two events with nothing between them");
  }
  return {seconds, event_s};
}

Json TransferCase::conditions() const {
  Json result = session_.conditions();
  result["empty_bracket_s"] = empty_s_;
  result["link_under_load"] = link_under_load_;
  result["data"] = "random";
  if (host_) result["host_memory"] = host_->placement();
  if (pair_) {
    result["peer"] = peer_conditions(*pair_);
    result["sender"] = "the source's device";
  }
  return result;
}

}  // namespace warpmeter
