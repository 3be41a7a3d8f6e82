// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Activity records with planted values, through a stand-in for CUPTI, to rows.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "collectors/activity_collector.h"
#include "core/error.h"
#include "profiler/profile_reader.h"
#include "profiler/profile_writer.h"
#include "tests/profiler/fake_activity.h"

namespace warpmeter {
namespace {

CUpti_ActivityKernel10 kernel(std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  record.name = "_Z4gemmPf";
  record.gridX = 132;
  record.gridY = 2;
  record.gridZ = 3;
  record.blockX = 384;
  record.blockY = record.blockZ = 1;
  record.clusterX = 2;
  record.clusterY = record.clusterZ = 1;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 200000;
  record.registersPerThread = 168;
  record.streamId = 13;
  record.contextId = 1;
  return record;
}

CUpti_ActivityAPI call(bool driver, CUpti_CallbackId id, std::uint32_t correlation) {
  CUpti_ActivityAPI record{};
  record.kind = driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = id;
  record.start = 100;
  record.end = 130;
  record.threadId = 4711;
  record.correlationId = correlation;
  return record;
}

class Activity : public ::testing::Test {
 protected:
  Activity()
      : file_(std::filesystem::temp_directory_path() /
              ("activity_test." + std::to_string(::getpid()) + ".profile.sqlite")),
        api_(activity_stand_in()) {
    remove();
    store_.emplace(file_, ProfileHeader{});
    ProcessRow process;
    process.pid = 1;
    target_.process_id = store_->add(process);
    for (const char* uuid : {"GPU-a", "GPU-b"}) {
      DeviceRow device;
      device.uuid = uuid;
      target_.devices.emplace_back().row_id = store_->add(device);
    }
  }
  ~Activity() override {
    collector_.reset();
    store_.reset();
    remove();
  }
  void remove() const {
    for (const char* end : {"", ".partial", ".partial-journal"})
      std::filesystem::remove(file_.string() + end);
  }
  void start(const ActivityOptions& options = {}) {
    subscription_.emplace(api_);
    collector_.emplace(api_, *subscription_, options);
    collector_->set_target(target_);
    collector_->arm();
  }
  ProfileReader finish() {
    collector_->close();
    collector_->drain(*store_);
    store_->finish();
    return ProfileReader(file_);
  }

  const std::filesystem::path file_;
  CuptiApi api_;
  Target target_;
  std::optional<ProfileWriter> store_;
  std::optional<Subscription> subscription_;
  std::optional<ActivityCollector> collector_;
};

TEST_F(Activity, AKernelKeepsWhatTheRecordSays) {
  start();
  CUpti_ActivityKernel10 record = kernel(5, 1000, 4000);
  record.deviceId = 1;
  record.graphId = 9;
  record.graphNodeId = (std::uint64_t{9} << 32) | 4;
  ASSERT_TRUE(deliver(record));
  const ProfileReader profile = finish();
  int rows = 0;
  profile.scan("v_kernels",
               {"name", "device_uuid", "start_ns", "end_ns", "grid_x", "grid_y", "grid_z",
                "block_x", "cluster_x", "shared_static", "shared_dynamic", "registers", "stream",
                "correlation", "graph", "graph_node"},
               [&](const ProfileRow& row) {
                 ++rows;
                 EXPECT_EQ(row.text(0), "_Z4gemmPf");
                 EXPECT_EQ(row.text(1), "GPU-b");
                 const std::int64_t wanted[] = {1000, 4000,   132, 2,  3, 384, 2,
                                                1024, 200000, 168, 13, 5, 9,   38654705668};
                 for (int i = 0; i < 14; ++i) EXPECT_EQ(row.integer(i + 2), wanted[i]) << i;
               });
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(profile.count("losses"), 0);
}

TEST_F(Activity, CopiesSetsAndWaits) {
  start();
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 4096;
  copy.start = 10;
  copy.end = 20;
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.deviceId = 1;
  peer.srcDeviceId = 1;
  peer.dstDeviceId = 0;
  peer.bytes = 77;
  peer.start = 30;
  peer.end = 40;
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.value = 255;
  set.bytes = 8;
  set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  set.start = 50;
  set.end = 60;
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.streamId = 7;
  wait.contextId = 1;
  wait.start = 61;
  wait.end = 90;
  CUpti_ActivityMemcpyPtoP4 pull = peer;
  pull.deviceId = pull.dstDeviceId;
  pull.start = 41;
  pull.end = 45;
  ASSERT_TRUE(deliver(copy, peer, pull, set, wait));
  const ProfileReader profile = finish();
  std::vector<std::string> rows;
  profile.scan("v_copies", {"kind", "source_memory", "bytes", "device_uuid", "peer_device_id"},
               [&](const ProfileRow& row) {
                 rows.push_back(std::string(row.text(0)) + " " +
                                std::string(row.optional_text(1).value_or("-")) + " " +
                                std::to_string(row.integer(2)) + " " + std::string(row.text(3)) +
                                " " + std::to_string(row.optional_integer(4).value_or(0)));
               });
  EXPECT_EQ(rows, (std::vector<std::string>{"host_to_device pinned 4096 GPU-a 0",
                                            "peer - 77 GPU-b 1", "peer - 77 GPU-a 2"}));
  profile.scan("v_sets", {"memory", "bytes", "value"}, [&](const ProfileRow& row) {
    EXPECT_EQ(row.text(0), "managed");
    EXPECT_EQ(row.integer(1), 8);
    EXPECT_EQ(row.integer(2), 255);
  });
  profile.scan("v_synchronizations", {"kind", "stream", "duration_ns"}, [&](const ProfileRow& row) {
    EXPECT_EQ(row.text(0), "stream");
    EXPECT_EQ(row.integer(1), 7);
    EXPECT_EQ(row.integer(2), 29);
  });
  EXPECT_EQ(profile.count("sets") + profile.count("synchronizations"), 2);
}

TEST_F(Activity, TheDriversCallInsideOfTheRuntimesIsDropped) {
  start();
  // cuBLAS launches through the driver: 21 has no call of the runtime around it.
  ASSERT_TRUE(deliver(call(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 20),
                      call(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 21)));
  collector_->drain(*store_);
  ASSERT_TRUE(deliver(call(false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 20)));
  const ProfileReader profile = finish();
  std::vector<std::string> rows;
  profile.scan("api", {"correlation"},
               [&](const ProfileRow& row) { rows.push_back(std::to_string(row.integer(0))); });
  std::vector<std::string> names;
  profile.scan("v_api", {"name", "thread"}, [&](const ProfileRow& row) {
    names.push_back(std::string(row.text(0)) + " " + std::to_string(row.integer(1)));
  });
  std::sort(rows.begin(), rows.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(rows, (std::vector<std::string>{"20", "21"}));
  EXPECT_EQ(names, (std::vector<std::string>{"cuLaunchKernel 4711", "cudaLaunchKernel 4711"}));
  EXPECT_EQ(collector_->launches(), 2u);
}

TEST_F(Activity, WhatIsLostIsCounted) {
  ActivityOptions options;
  options.buffer_bytes = 1 << 16;
  options.memory_bytes = 2 << 16;
  start(options);
  CUpti_ActivityKernel10 elsewhere = kernel(2, 10, 20);
  elsewhere.deviceId = 5;
  ASSERT_TRUE(deliver(kernel(1, 0, 0), elsewhere));
  stand.dropped = 12;
  ASSERT_TRUE(deliver(kernel(3, 30, 40)));
  EXPECT_FALSE(deliver(kernel(4, 50, 60)));  // both buffers are full
  const ProfileReader profile = finish();
  EXPECT_EQ(profile.count("kernels"), 2);  // the one without times has a row
  std::map<std::string, std::int64_t> losses;
  profile.scan("losses", {"what", "count"},
               [&](const ProfileRow& row) { losses[std::string(row.text(0))] += row.integer(1); });
  EXPECT_EQ(losses, (std::map<std::string, std::int64_t>{
                        {"kernels", 1}, {"records", 12}, {"times of kernels", 1}}));
}

TEST_F(Activity, ABufferIsUsedAgainOnceItIsWritten) {
  ActivityOptions options;
  options.buffer_bytes = options.memory_bytes = 1 << 16;
  start(options);
  for (std::uint32_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(deliver(kernel(i, i * 10, i * 10 + 5)));
    collector_->drain(*store_);
  }
  EXPECT_EQ(collector_->describe()["memory_used_bytes"], 1 << 16);
  EXPECT_EQ(finish().count("kernels"), 100);
}

TEST_F(Activity, NodesOfGraphsAreNotedWithTheirSource) {
  start();
  CUpti_GraphData data{};
  data.node = reinterpret_cast<CUgraphNode>(7);
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  stand.callback(stand.user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                 &resource);
  data.node = reinterpret_cast<CUgraphNode>(8);
  data.originalNode = reinterpret_cast<CUgraphNode>(7);
  stand.callback(stand.user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                 &resource);
  const ProfileReader profile = finish();
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  profile.scan("graph_nodes", {"node", "source_node", "thread"}, [&](const ProfileRow& row) {
    nodes.emplace_back(row.integer(0), row.optional_integer(1).value_or(0));
    EXPECT_EQ(row.integer(2), ::gettid());
  });
  EXPECT_EQ(nodes, (std::vector<std::pair<std::int64_t, std::int64_t>>{{7, 0}, {8, 7}}));
}

TEST_F(Activity, KernelsOfOneKindAreAskedForAndCallsThatLaunchOnly) {
  start();
  EXPECT_TRUE(stand.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
  EXPECT_FALSE(stand.enabled.contains(CUPTI_ACTIVITY_KIND_KERNEL));
  EXPECT_FALSE(stand.enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME));
  EXPECT_TRUE((stand.calls[{false, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000}]));
  EXPECT_TRUE((stand.calls[{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}]));
  EXPECT_FALSE((stand.calls.contains({false, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020})));
  collector_->drain(*store_);
  EXPECT_EQ(stand.flushes, 1);  // what is not full dies with the process
  collector_->disarm();
  for (const auto& [kind, on] : stand.enabled) EXPECT_FALSE(on) << kind;
  for (const auto& [id, on] : stand.calls) EXPECT_FALSE(on) << id.second;
}

TEST_F(Activity, AnotherSubscriberIsNamed) {
  stand.subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  stand.holder = "Nsight Systems";
  try {
    start();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Nsight Systems is CUPTI's subscriber"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Activity, WithoutKernelsThereIsNoTimeline) {
  stand.enable_kernels = CUPTI_ERROR_NOT_INITIALIZED;
  EXPECT_THROW(start(), InputError);
}

}  // namespace
}  // namespace warpmeter
