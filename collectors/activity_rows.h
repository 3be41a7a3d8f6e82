// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectors/collector.h"
#include "collectors/cupti_api.h"
#include "collectors/record_rows.h"

namespace warpmeter {

// CUPTI's activity records (the structs of CUDA 13.0) to rows. The writer's thread.
class ActivityRows {
 public:
  ActivityRows(const Target& target, RowSink& sink);

  // The records of a buffer, in order. Returns how many rows it added.
  std::size_t add(std::uint8_t* data, std::size_t bytes);

  // Calls of the driver wait for that of the runtime around them, which is the one to be kept: both
  // have one correlation. `all`: nothing more will come. Returns how many rows it added.
  std::size_t settle_calls(bool all);

  // Adds losses that were counted.
  void report(std::uint64_t dropped);

  std::uint64_t kernels() const { return kernel_count_; }
  std::uint64_t launches() const { return launch_count_; }  // calls that launch kernels
  // Time in CUPTI's overhead records by kind.
  const std::map<std::string, std::int64_t>& overhead_ns() const { return overhead_ns_; }

 private:
  void add_kernel(const CUpti_ActivityKernel10& activity);
  std::size_t flush_kernels();
  std::size_t add_record(const CUpti_Activity& record);
  std::size_t add_copy(const CUpti_ActivityMemcpy6& activity);
  std::size_t add_peer_copy(const CUpti_ActivityMemcpyPtoP4& activity);
  std::size_t add_set(const CUpti_ActivityMemset4& activity);
  std::size_t add_synchronization(const CUpti_ActivitySynchronization2& activity);
  std::size_t add_overhead(const CUpti_ActivityOverhead3& activity);
  void add_call(const CUpti_ActivityAPI& activity, bool driver);
  std::uint32_t name_of(const char* text);
  template <typename Row, typename Activity>
  bool fill(Row& row, const Activity& activity);
  bool set_times(OptionalNs& start, OptionalNs& end, std::uint64_t from, std::uint64_t to);
  std::int64_t correlation(std::uint32_t id);
  struct PendingCall {
    ApiRow row;
    bool kernels;
    int age = 0;
  };
  void add_settled(const PendingCall& call);
  void lose(const char* what, std::uint64_t count, const std::string& reason);

  const Target target_;
  RowSink& sink_;
  NameTable names_;
  KernelRows kernel_rows_;
  std::unordered_map<const char*, std::uint32_t> name_by_pointer_;
  std::vector<KernelRecord> kernels_;
  std::vector<KernelRow> rows_;
  std::unordered_map<std::uint32_t, PendingCall> driver_calls_;  // by CUPTI's correlation
  std::unordered_map<std::uint32_t, int> runtime_correlations_;  // and their age
  std::map<std::string, std::int64_t> overhead_ns_;
  std::map<int, std::uint64_t> unknown_;
  std::size_t settled_ = 0;
  std::uint64_t kernel_count_ = 0, launch_count_ = 0, without_device_ = 0, without_time_ = 0;
};

}  // namespace warpmeter
