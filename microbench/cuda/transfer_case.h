// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>

#include "core/benchmark.h"
#include "cuda/pinned.h"
#include "cuda/session.h"
#include "microbench/cuda/peers.h"

namespace warpmeter {

enum class Engine { copy_engine, sm };

// One side of a copy: memory that the copying device can address.
struct Place {
  void* pointer = nullptr;  // as the copying device sees it
  bool on_host = false;
  int ordinal = 0;  // of the owner, if it is a device
};

// One copy from `source` to `target`, timed by events on a warm link.
class TransferCase : public Case {
 public:
  // Between this device and host memory on its NUMA node; `direction` is "h2d" or "d2h".
  TransferCase(const Device& device, const std::string& direction, Engine engine,
               std::size_t bytes);
  // Between two devices; the sender copies.
  TransferCase(const Pair& pair, Engine engine, std::size_t bytes);

  Sample sample() override;
  Json conditions() const override;

 private:
  void prepare();
  void fill_source();
  void verify_target();
  void enqueue(cudaStream_t stream);

  Session session_;
  Engine engine_;
  std::size_t bytes_;
  std::optional<Pair> pair_;
  std::optional<PinnedBuffer> host_;
  DeviceBuffer near_;
  DeviceBuffer far_;
  Place source_;
  Place target_;
  double empty_s_ = 0;
  Json link_under_load_ = Json::object();
};

}  // namespace warpmeter
