// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/chip.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using emulator::read_chip;

nlohmann::json tiny() { return nlohmann::json::parse(std::ifstream(EMULATOR_CHIPS "/tiny.json")); }

std::string why_refused(const nlohmann::json& chip) {
  const std::string path = testing::TempDir() + "/chip_test.json";
  std::ofstream(path) << chip;
  try {
    read_chip(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Chip, EveryShippedFileIsGood) {
  for (const char* name : {"tiny", "duo", "ampere_like", "hopper_like"}) {
    EXPECT_EQ(read_chip(std::string(EMULATOR_CHIPS "/") + name + ".json").name, name);
  }
  EXPECT_NE(read_chip(EMULATOR_CHIPS "/tiny.json").hash,
            read_chip(EMULATOR_CHIPS "/duo.json").hash);
}

TEST(Chip, RefusalsNameTheKey) {
  EXPECT_EQ(why_refused(tiny()), "");
  const auto with = [](const char* key, const nlohmann::json& value) {
    nlohmann::json chip = tiny();
    chip[nlohmann::json::json_pointer(key)] = value;
    return why_refused(chip);
  };
  EXPECT_NE(with("/sm/count", 0).find("/sm/count"), std::string::npos);
  EXPECT_NE(with("/sm/count", 2.5).find("/sm/count"), std::string::npos);
  EXPECT_NE(with("/sm/count", "4").find("/sm/count"), std::string::npos);
  EXPECT_NE(with("/sm/extra", 1).find("/sm/extra"), std::string::npos);
  EXPECT_NE(with("/l2/latency", 10).find("/l2/latency"), std::string::npos);
  EXPECT_NE(with("/sm/shared_bytes", 1 << 20).find("/sm/shared_bytes"), std::string::npos);
  nlohmann::json chip = tiny();
  chip["dram"].erase("latency");
  EXPECT_NE(why_refused(chip).find("/dram/latency is missing"), std::string::npos);
  EXPECT_THROW(read_chip("/nonexistent"), std::runtime_error);
}

}  // namespace
