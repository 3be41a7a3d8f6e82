// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "stand_in_nvml.h"

namespace warpmeter {

constexpr const char* first_uuid = "GPU-11111111-2222-3333-4444-555555555555";
constexpr const char* mig_uuid = "MIG-aaaaaaaa-2222-3333-4444-555555555555";

// The stand-in, as new, with one GPU that has a value for everything.
class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    nvml = open_nvml(why);
    ASSERT_NE(nvml, nullptr) << why;
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    auto* get = reinterpret_cast<StandInNvml* (*)()>(dlsym(library, "stand_in_nvml"));
    ASSERT_NE(get, nullptr) << "the loader found another libnvidia-ml.so.1";
    planted = get();
    *planted = {};
    planted->uuids = {first_uuid, mig_uuid};
    planted->fields[186] = {1, 350500, 0};   // mW
    planted->fields[83] = {3, 1e9, 40000};   // mJ: 40 J each time
    planted->fields[82] = {1, 61, 0};        // degrees Celsius
    planted->fields[197] = {3, 5000, 1000};  // B
    planted->fields[198] = {3, 7000, 2000};  // B
    planted->fields[138] = {3, 100, 3};      // KiB
    planted->fields[139] = {3, 100, 4};      // KiB
    planted->fields[140] = {3, 100, 5};      // KiB
    planted->fields[141] = {3, 100, 6};      // KiB
    for (unsigned int id : {38U, 45U, 52U, 59U, 160U}) planted->fields[id] = {3, 9, 1};
    planted->temperature = 55;
    planted->power = 349000;
    planted->sm_clocks = {1980};
    planted->memory_clocks = {2619};
    planted->reasons = {0x4};
    planted->generation = 5;
    planted->width = 16;
    planted->links = 9;
    planted->utilization = {97, 31};
  }

  const NvmlApi* nvml = nullptr;
  StandInNvml* planted = nullptr;
  std::string why;
};

}  // namespace warpmeter
