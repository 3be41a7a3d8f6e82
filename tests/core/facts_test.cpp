// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/facts.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include "core/error.h"
#include "core/provenance.h"

namespace warpmeter {
namespace {

TEST(Facts, ReadBackWithUnitAndSource) {
  const Facts facts = {{"cache.l2.size", {2097152, Unit::byte, "hwloc"}},
                       {"governor", {Json(), std::nullopt, "cpufreq: not exposed here"}}};
  const Facts back = facts_from_json(to_json(facts), "test");
  EXPECT_EQ(fact_number(back, "cache.l2.size"), 2097152);
  EXPECT_EQ(back.at("cache.l2.size").unit, Unit::byte);
  EXPECT_EQ(back.at("governor").source, "cpufreq: not exposed here");
  EXPECT_FALSE(fact_number(back, "governor").has_value());
  EXPECT_FALSE(fact_number(back, "absent").has_value());
}

TEST(Facts, WithoutASourceAreRefused) {
  EXPECT_THROW(facts_from_json(Json::parse(R"({"x": {"value": 1}})"), "test"), InputError);
}

TEST(HostFacts, AgreeWithTheKernel) {
  const Facts facts = read_host_facts();
  struct sysinfo system {};
  ASSERT_EQ(sysinfo(&system), 0);
  EXPECT_NEAR(*fact_number(facts, "memory.total"),
              static_cast<double>(system.totalram) * system.mem_unit, 8192);
  EXPECT_GE(*fact_number(facts, "cpu.threads"), 1);
  for (const auto& [name, fact] : facts) EXPECT_FALSE(fact.source.empty()) << name;
}

TEST(Provenance, SaysWhoAndWhen) {
  const std::vector<std::string> argv = {"warpmeter", "bench"};
  const Json tool = tool_provenance(argv);
  EXPECT_EQ(tool.at("argv").size(), 2u);
  const std::string time = tool.at("utc_time");
  EXPECT_EQ(time.size(), 20u);
  EXPECT_EQ(time.back(), 'Z');
  EXPECT_TRUE(host_provenance(0.01).at("other_tenants").is_array());
}

}  // namespace
}  // namespace warpmeter
