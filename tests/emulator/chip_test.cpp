// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/machine/chip.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using emulator::read_chip;

nlohmann::json tiny() { return nlohmann::json::parse(std::ifstream(EMULATOR_CHIPS "/tiny.json")); }

// Of its own for each process: tests run side by side.
std::string temporary_file() {
  return testing::TempDir() + "/chip_test_" + std::to_string(getpid()) + ".json";
}

std::string why_refused(const nlohmann::json& chip) {
  const std::string path = temporary_file();
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

// Why a text is refused: one line that names the file.
std::string why_text_refused(const std::string& text) {
  const std::string path = temporary_file();
  std::ofstream(path) << text;
  try {
    read_chip(path);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(path), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_LT(what.size(), 400u) << what;
    return what;
  }
  return "";
}

TEST(Chip, EveryKeyIsChecked) {
  const nlohmann::json whole = tiny();
  std::size_t keys = 0;
  const nlohmann::json flat = whole.flatten();
  for (const auto& [key, value] : flat.items()) {
    if (!value.is_number()) continue;
    ++keys;
    const auto with = [&](const nlohmann::json& bad) {
      nlohmann::json chip = whole;
      chip[nlohmann::json::json_pointer(key)] = bad;
      return why_text_refused(chip.dump());
    };
    for (const nlohmann::json& bad :
         {nlohmann::json(-1), nlohmann::json(1e30), nlohmann::json("1"), nlohmann::json(nullptr),
          nlohmann::json(true), nlohmann::json::array({1}), nlohmann::json::object()}) {
      EXPECT_NE(with(bad).find(" " + key + " "), std::string::npos) << key << ": " << bad;
    }
    nlohmann::json chip = whole;
    const nlohmann::json::json_pointer at(key);
    chip[at.parent_pointer()].erase(at.back());
    EXPECT_NE(why_text_refused(chip.dump()).find(key + " is missing"), std::string::npos) << key;
    chip = whole;
    chip[at.parent_pointer()]["surprise"] = 1;
    EXPECT_NE(why_text_refused(chip.dump()).find("/surprise is not a key"), std::string::npos);
  }
  EXPECT_GT(keys, 80u);
}

TEST(Chip, TextsThatAreNoChip) {
  const std::string text = tiny().dump();
  for (std::size_t length = 0; length < text.size(); length += 41) {
    EXPECT_NE(why_text_refused(text.substr(0, length)), "") << length;
  }
  for (const char* bad :
       {"", "[]", "3", "null", "\"name\"", "{}", "{\"name\": 3}", "{\"name\": \"\"}",
        "{\"name\": \"x\", \"sm\": [1, 2]}", "\xff\xfe", "{\"name\": \"x\"} trailing"}) {
    EXPECT_NE(why_text_refused(bad), "") << bad;
  }
  EXPECT_NE(why_text_refused("{\"name\": " + std::string(1000000, '[')), "");
  EXPECT_NE(why_text_refused("{\"name\": \"x\", \"deep\": " + std::string(1000000, '[') +
                             std::string(1000000, ']') + "}"),
            "");
  EXPECT_NE(why_text_refused("{\"deep\": " + std::string(1000000, '[') + std::string(1000000, ']') +
                             "," + text.substr(1)),
            "");
  std::string digits = text;
  const std::size_t at = digits.find("\"count\":");
  digits.insert(at + 8, std::string(5000, '9'));
  EXPECT_NE(why_text_refused(digits), "");
  EXPECT_NE(why_text_refused(std::string(100000, '\0')), "");
}

}  // namespace
