// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Callbacks and activity records of the emulated CUPTI against what the program does and
// emulator/chips/tiny.json.
#include <cupti.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/emulator/driver/run.h"

namespace driver_test {
namespace {

constexpr int kernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr int copy = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr int fill = CUPTI_ACTIVITY_KIND_MEMSET;
constexpr int runtime_call = CUPTI_ACTIVITY_KIND_RUNTIME;

// Of tiny.json.
constexpr std::uint64_t dependent_ns = 1000;
constexpr std::uint64_t launch_ns = 2500;
constexpr std::uint64_t graph_node_ns = 600;
constexpr std::uint64_t copy_latency_ns = 1500;
constexpr double host_bytes_per_ns = 25;

std::uint64_t number(const Json& line, const char* key) {
  return line.at(key).get<std::uint64_t>();
}

const Result& basic() {
  static const Result result = run("basic");
  return result;
}

TEST(DriverActivity, KernelsSayHowTheyWereLaunched) {
  const auto kernels = basic().records(kernel);
  ASSERT_EQ(kernels.size(), 2u) << basic().output;
  const Json& add = kernels[0];
  const Json& scale = kernels[1];
  EXPECT_NE(add["name"].get<std::string>().find("add_one"), std::string::npos);
  EXPECT_EQ(add["grid"], Json({16, 2, 1}));
  EXPECT_EQ(add["block"], Json({64, 4, 1}));
  EXPECT_EQ(number(add, "static_shared") + number(add, "dynamic_shared"), 0u);
  EXPECT_NE(scale["name"].get<std::string>().find("scale"), std::string::npos);
  EXPECT_EQ(scale["static_shared"], 64 * sizeof(float));
  EXPECT_EQ(scale["dynamic_shared"], 64 * sizeof(float));
  EXPECT_EQ(add["registers"], 32);
  EXPECT_EQ(add["graph"], 0);
  EXPECT_EQ(add["node"], 0);
  EXPECT_EQ(add["stream"], scale["stream"]);
}

// The time line of the stream: begin, overheads, and the cycles of the emulator's own log.
TEST(DriverActivity, TimesAreThoseOfTheChipFile) {
  const auto kernels = basic().records(kernel);
  const auto copies = basic().records(copy);
  ASSERT_EQ(kernels.size(), 2u);
  ASSERT_EQ(copies.size(), 2u);
  ASSERT_EQ(basic().counters.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {  // a cycle is 1 ns
    EXPECT_NEAR(static_cast<double>(number(kernels[i], "end") - number(kernels[i], "start")),
                basic().counters[i]["cycles"].get<double>(), 1);
  }
  EXPECT_NEAR(static_cast<double>(number(kernels[1], "start") - number(kernels[0], "end")),
              dependent_ns, 1);
  EXPECT_NEAR(static_cast<double>(number(copies[0], "start") - number(kernels[1], "end")),
              dependent_ns, 1);
  EXPECT_NEAR(static_cast<double>(number(copies[0], "end") - number(copies[0], "start")),
              copy_latency_ns + 1024 / host_bytes_per_ns, 1);
  // On the clock that the program reads.
  EXPECT_GE(number(kernels[0], "start"), basic().number("begin") + launch_ns);
  EXPECT_LT(number(kernels[0], "start"), basic().number("begin") + launch_ns + 1000);
  EXPECT_GE(basic().number("end"), number(copies[0], "end"));
  EXPECT_LT(basic().number("end"), number(copies[0], "end") + 1000);
}

TEST(DriverActivity, CopiesAndFillsSayWhatTheyMoved) {
  const auto copies = basic().records(copy);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0]["bytes"], 1024);
  EXPECT_EQ(copies[0]["copy_kind"], CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[0]["from"], CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(copies[0]["to"], CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  EXPECT_EQ(copies[0]["flags"], CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  EXPECT_EQ(copies[1]["bytes"], 16);
  EXPECT_EQ(copies[1]["copy_kind"], CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[1]["from"], CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  EXPECT_EQ(copies[1]["flags"], 0);
  const auto fills = basic().records(fill);
  ASSERT_EQ(fills.size(), 2u);
  EXPECT_EQ(fills[0]["bytes"], 16384);
  EXPECT_EQ(fills[0]["value"], 0);
  EXPECT_EQ(fills[1]["bytes"], 4096);
  EXPECT_EQ(fills[1]["value"], 7);
  EXPECT_NE(fills[0]["stream"], fills[1]["stream"]);
}

TEST(DriverActivity, WorkAndCallsHaveTheSameCorrelation) {
  std::map<std::uint64_t, std::string> calls;
  for (const Json& call : basic().records(runtime_call)) {
    EXPECT_TRUE(calls.emplace(number(call, "correlation"), call["name"]).second);
    EXPECT_LT(number(call, "start"), number(call, "end"));
    EXPECT_EQ(call["result"], 0);
  }
  for (const Json& record : basic().records(kernel)) {
    EXPECT_EQ(calls[number(record, "correlation")], "__cudaLaunchKernel_v13000");
  }
  EXPECT_EQ(calls[number(basic().records(copy)[0], "correlation")], "cudaMemcpyAsync_v3020");
  EXPECT_EQ(calls[number(basic().records(copy)[1], "correlation")], "cudaMemcpy_v3020");
  EXPECT_EQ(calls[number(basic().records(fill)[0], "correlation")], "cudaMemset_v3020");
  const auto inner = basic().records(CUPTI_ACTIVITY_KIND_DRIVER);
  ASSERT_EQ(inner.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(inner[i]["name"], "cuLaunchKernel");
    EXPECT_EQ(inner[i]["correlation"], basic().records(kernel)[i]["correlation"]);
  }
  // Every call is marked with the innermost external id.
  const auto external = basic().records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(external.size(), calls.size());
  for (const Json& record : external) EXPECT_EQ(record["external"], 12);
}

TEST(DriverActivity, WaitsAreRecorded) {
  const auto waits = basic().records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0]["type"], CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
  EXPECT_EQ(waits[1]["type"], CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  EXPECT_EQ(waits[2]["type"], CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  EXPECT_EQ(waits[1]["stream"], basic().records(kernel)[0]["stream"]);
  EXPECT_EQ(number(waits[1], "end"), number(basic().records(copy)[0], "end"));
}

TEST(DriverActivity, CallbacksComeInPairsAroundTheCall) {
  std::map<std::uint64_t, Json> open;
  std::size_t pairs = 0;
  for (const Json& line : basic().having("callback")) {
    if (line["callback"] != "runtime") continue;
    if (line["enter"].get<bool>()) {
      open[number(line, "correlation")] = line;
      continue;
    }
    const Json enter = open.at(number(line, "correlation"));
    EXPECT_EQ(enter["function"], line["function"]);
    EXPECT_EQ(enter["time"], line["enter_time"]) << "what the client left at enter";
    EXPECT_GE(number(line, "time"), number(enter, "time") + 300) << "overhead.api_ns";
    ++pairs;
  }
  EXPECT_EQ(pairs, basic().records(runtime_call).size());
  const Json launch = open.at(number(basic().records(kernel)[0], "correlation"));
  EXPECT_EQ(launch["symbol"], basic().records(kernel)[0]["name"]);
}

TEST(DriverActivity, ContextsStreamsAndDevicesAreTold) {
  const auto devices = basic().records(CUPTI_ACTIVITY_KIND_DEVICE);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0]["name"], "warpmeter emulated tiny");
  EXPECT_EQ(devices[0]["sms"], 4);
  const auto contexts = basic().records(CUPTI_ACTIVITY_KIND_CONTEXT);
  ASSERT_EQ(contexts.size(), 1u);
  EXPECT_EQ(contexts[0]["null_stream"], basic().records(fill)[0]["stream"]);
  std::map<int, std::vector<Json>> told;
  for (const Json& line : basic().having("callback")) {
    if (line["callback"] == "resource") told[line["cbid"].get<int>()].push_back(line);
  }
  ASSERT_EQ(told[CUPTI_CBID_RESOURCE_CONTEXT_CREATED].size(), 1u);
  ASSERT_EQ(told[CUPTI_CBID_RESOURCE_STREAM_CREATED].size(), 1u);
  EXPECT_EQ(told[CUPTI_CBID_RESOURCE_STREAM_CREATED][0]["stream"],
            basic().records(kernel)[0]["stream"]);
  EXPECT_EQ(told[CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING][0]["stream"],
            basic().records(kernel)[0]["stream"]);
}

// Two launches of three nodes: node ids join the records to the launch that was captured.
TEST(DriverActivity, GraphNodesAreKnownByTheirIds) {
  const Result result = run("graph");
  std::map<std::uint64_t, std::string> names;  // of captured nodes, by the launch around
  std::map<std::uint64_t, std::uint64_t> original;
  std::string symbol;
  std::uint64_t exec = 0;
  // Node callbacks come before the exit of the call that makes the node.
  for (const Json& line : result.having("callback")) {
    if (line["callback"] == "runtime" && line["enter"].get<bool>()) symbol = line["symbol"];
    if (line["callback"] != "resource") continue;
    const int cbid = line["cbid"];
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) names[number(line, "node")] = symbol;
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
      original[number(line, "node")] = number(line, "original");
    }
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED) exec = number(line, "exec");
  }
  ASSERT_EQ(names.size(), 3u);
  ASSERT_EQ(original.size(), 3u);
  for (const auto& [clone, captured] : original) {
    EXPECT_TRUE(names.contains(captured));
    EXPECT_FALSE(names.contains(clone)) << "a node of its own";
  }
  const auto kernels = result.records(kernel);
  ASSERT_EQ(kernels.size(), 6u);
  std::set<std::uint64_t> nodes;
  std::set<std::uint64_t> correlations;
  for (const Json& record : kernels) {
    EXPECT_EQ(number(record, "graph"), exec);
    EXPECT_EQ(names.at(original.at(number(record, "node"))), record["name"]);
    nodes.insert(number(record, "node"));
    correlations.insert(number(record, "correlation"));
  }
  EXPECT_EQ(nodes.size(), 3u);
  EXPECT_EQ(correlations.size(), 2u) << "one of each graph launch";
  EXPECT_NEAR(static_cast<double>(number(kernels[1], "start") - number(kernels[0], "end")),
              graph_node_ns, 1);
}

TEST(DriverActivity, BuffersThatAreFullComeByThemselves) {
  // 12 records of 12 kernels fit into a buffer, with those of calls fewer.
  const Result result = run("many 100", {{"CLIENT_BUFFER", "4096"}});
  std::set<int> threads;
  std::size_t records = 0;
  for (const Json& line : result.having("buffer")) {
    threads.insert(line["on_thread"].get<int>());
    records += line["records"].get<std::size_t>();
    EXPECT_LE(line["valid"].get<std::size_t>(), 4096u);
  }
  EXPECT_EQ(result.records(kernel).size(), 100u);
  EXPECT_EQ(records, result.having("kind").size());
  EXPECT_EQ(result.having("finished")[0]["dropped"], 0);
}

TEST(DriverActivity, WorkThatHasNotEndedHasNoRecord) {
  EXPECT_EQ(run("unfinished").records(kernel).size(), 1u);
}

// Nobody flushes: the worker's period does, in real time.
TEST(DriverActivity, ThePeriodDeliversFullBuffers) {
  const Result result =
      run("wait 100 @/signal",
          {{"CLIENT_BUFFER", "4096"}, {"CLIENT_PERIOD", "20"}, {"CLIENT_SIGNAL", "@/signal"}});
  EXPECT_EQ(result.number("found"), 1u) << result.output;
  EXPECT_EQ(result.records(kernel).size(), 100u);
}

TEST(DriverActivity, WithoutABufferRecordsAreCounted) {
  const Result all = run("many 100", {{"CLIENT_BUFFER", "4096"}});
  const Result few = run("many 100", {{"CLIENT_BUFFER", "4096"}, {"CLIENT_BUFFERS", "2"}});
  std::size_t dropped = few.having("finished")[0]["dropped"];
  for (const Json& line : few.having("buffer")) dropped += line["dropped"].get<std::size_t>();
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(few.having("kind").size() + dropped, all.having("kind").size());
}

}  // namespace
}  // namespace driver_test
