// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/error.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

// Every field away from its default.
Machine full_machine() {
  Machine machine = planted_machine();
  machine.source = Source::emulated;
  machine.tool = {{"name", "warpmeter"}, {"version", "0.1.0"}};
  machine.inputs = Json::array({{{"file", "a.run.json"}, {"measurements", 3}}});
  machine.facts["cpu.model"] = {"planted", std::nullopt, "nowhere"};
  Parameter latency = known(1.0 / 3e8, Unit::second, {3.1e-9, 3.5e-9});
  latency.level = 0.95;
  latency.reason = "two modes";
  latency.method = "plateau of the chase";
  latency.evidence = {"latency.chase/footprint=4096", "latency.chase/footprint=8192"};
  latency.valid_range = {{"footprint", {4096, 8192}}};
  latency.distribution = {{"modes", {3e-9, 4e-9}}};
  machine.parameters["latency.l1.hit"] = latency;
  Parameter absent;
  absent.unit = Unit::byte;
  absent.status = Status::not_identifiable;
  absent.reason = "no knee";
  machine.parameters["capacity.l3"] = absent;
  machine.covariance.names = {"latency.l1.hit", "capacity.l1"};
  machine.covariance.matrix = {{4e-20, 1e-9}, {1e-9, 1e6}};
  machine.curves[0].points[0].interval = Interval{9e11, 1.1e12};
  machine.curves[0].evidence = {"bandwidth.copy/footprint=4096"};
  return machine;
}

std::string refusal(const Json& document) {
  try {
    machine_from_json(document, "some.machine.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Machine, SurvivesTheRoundTripThroughAFile) {
  const Json written = to_json(full_machine());
  const fs::path file = fs::path(testing::TempDir()) / "round_trip.machine.json";
  save_machine(file, full_machine());
  const Machine read = load_machine(file);
  EXPECT_EQ(to_json(read).dump(), written.dump());
  EXPECT_EQ(read.source, Source::emulated);
  EXPECT_EQ(read.parameters.at("latency.l1.hit").value, 1.0 / 3e8);
  EXPECT_EQ(read.parameters.at("latency.l1.hit").interval, (Interval{3.1e-9, 3.5e-9}));
  EXPECT_EQ(read.parameters.at("latency.l1.hit").level, 0.95);
  EXPECT_EQ(read.parameters.at("latency.l1.hit").reason, "two modes");
  EXPECT_EQ(read.parameters.at("latency.l1.hit").method, "plateau of the chase");
  EXPECT_EQ(read.parameters.at("latency.l1.hit").evidence.size(), 2u);
  EXPECT_EQ(read.parameters.at("latency.l1.hit").valid_range["footprint"][1], 8192);
  EXPECT_EQ(read.parameters.at("latency.l1.hit").distribution["modes"][0], 3e-9);
  EXPECT_EQ(read.tool, full_machine().tool);
  EXPECT_EQ(read.inputs, full_machine().inputs);
  EXPECT_EQ(read.parameters.at("capacity.l3").value, std::nullopt);
  EXPECT_EQ(read.parameters.at("capacity.l3").status, Status::not_identifiable);
  EXPECT_EQ(read.covariance.matrix, full_machine().covariance.matrix);
  EXPECT_EQ(read.curves.size(), full_machine().curves.size());
  EXPECT_EQ(read.curves[0].points[0].interval, (Interval{9e11, 1.1e12}));
  EXPECT_EQ(read.curves[0].x_unit, Unit::byte);
  fs::remove(file);
}

TEST(Machine, ValueOfAnythingElseIsNull) {
  EXPECT_EQ(value_of(full_machine(), "capacity.l1"), 32768);
  EXPECT_EQ(value_of(full_machine(), "capacity.l3"), std::nullopt);
  EXPECT_EQ(value_of(full_machine(), "capacity.l4"), std::nullopt);
}

struct Broken {
  const char* name;
  std::function<void(Json&)> damage;
  const char* says;
  bool schema_sees_it;  // JSON Schema cannot express the other rules
};

const std::vector<Broken>& broken_documents() {
  static const std::vector<Broken> list = {
      {"no device", [](Json& d) { d.erase("device"); }, "device", true},
      {"other version", [](Json& d) { d["schema"] = "warpmeter.machine/2"; }, "warpmeter.machine/2",
       true},
      {"a run", [](Json& d) { d["schema"] = "warpmeter.run/1"; }, "warpmeter.run/1", true},
      {"unknown source", [](Json& d) { d["source"] = "guessed"; }, "guessed", true},
      {"unknown key", [](Json& d) { d["device_name"] = "x"; }, "device_name", true},
      {"unknown unit", [](Json& d) { d["parameters"]["latency.l1.hit"]["unit"] = "ns"; }, "ns",
       true},
      {"unknown status", [](Json& d) { d["parameters"]["latency.l1.hit"]["status"] = "sure"; },
       "sure", true},
      {"measured null", [](Json& d) { d["parameters"]["latency.l1.hit"]["value"] = nullptr; },
       "value is null", true},
      {"text for a value", [](Json& d) { d["parameters"]["latency.l1.hit"]["value"] = "3"; },
       "value", true},
      {"not measured but valued", [](Json& d) { d["parameters"]["capacity.l3"]["value"] = 3.0; },
       "does not allow a value", true},
      {"absent without reason", [](Json& d) { d["parameters"]["capacity.l3"]["reason"] = ""; },
       "needs a reason", true},
      {"no evidence", [](Json& d) { d["parameters"]["capacity.l3"].erase("evidence"); }, "evidence",
       true},
      {"misspelt key", [](Json& d) { d["parameters"]["capacity.l3"]["intervall"] = 1; },
       "intervall", true},
      {"level of one", [](Json& d) { d["parameters"]["capacity.l3"]["level"] = 1.0; }, "level",
       true},
      {"three ends",
       [](Json& d) {
         d["parameters"]["latency.l1.hit"]["interval"] = Json::array({1, 2, 3});
       },
       "interval", true},
      {"reversed interval",
       [](Json& d) {
         d["parameters"]["latency.l1.hit"]["interval"] = Json::array({2, 1});
       },
       "interval", false},
      {"evidence of numbers",
       [](Json& d) { d["parameters"]["capacity.l3"]["evidence"] = Json::array({1}); }, "evidence",
       true},
      {"covariance not square",
       [](Json& d) { d["covariance"]["matrix"] = Json::parse("[[1, 0]]"); }, "not square", false},
      {"covariance too small", [](Json& d) { d["covariance"]["matrix"] = Json::array(); },
       "not square", false},
      {"covariance not symmetric",
       [](Json& d) { d["covariance"]["matrix"] = Json::parse("[[1, 0.1], [0.2, 1]]"); },
       "not symmetric", false},
      {"covariance not semidefinite",
       [](Json& d) { d["covariance"]["matrix"] = Json::parse("[[1, 2], [2, 1]]"); },
       "not positive semidefinite", false},
      {"covariance without a variance",
       [](Json& d) { d["covariance"]["matrix"] = Json::parse("[[0, 1], [1, 1]]"); },
       "not positive semidefinite", false},
      {"negative variance",
       [](Json& d) { d["covariance"]["matrix"] = Json::parse("[[-1, 0], [0, 1]]"); },
       "negative variance", false},
      {"repeated name", [](Json& d) { d["covariance"]["names"] = Json::parse(R"(["a", "a"])"); },
       "repeat", true},
      {"curve not rising",
       [](Json& d) {
         std::swap(d["curves"][0]["points"][0]["x"], d["curves"][0]["points"][1]["x"]);
       },
       "rise in x", false},
      {"curve repeats x", [](Json& d) { d["curves"][0]["points"][1]["x"] = 4096; }, "rise in x",
       false},
      {"curve without unit", [](Json& d) { d["curves"][0].erase("y_unit"); }, "y_unit", true},
      {"curve point without interval",
       [](Json& d) { d["curves"][0]["points"][0].erase("interval"); }, "interval", true},
  };
  return list;
}

TEST(Machine, RefusesEachBrokenDocumentInOneLineThatNamesFileAndCause) {
  ASSERT_EQ(refusal(to_json(full_machine())), "");
  for (const Broken& broken : broken_documents()) {
    Json document = to_json(full_machine());
    broken.damage(document);
    const std::string text = refusal(document);
    EXPECT_NE(text.find(broken.says), std::string::npos) << broken.name << ": " << text;
    EXPECT_EQ(text.find("some.machine.json"), 0u) << broken.name << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << broken.name;
  }
  EXPECT_NE(refusal(Json::array()), "");
}

// What the Python validator says of each document, in one process: "valid" or "invalid".
std::vector<std::string> schema_verdicts(const std::vector<Json>& documents) {
  const fs::path folder = fs::path(testing::TempDir()) / "schema_check";
  fs::create_directories(folder);
  const fs::path answer = folder / "answer";
  std::string command = WARPMETER_PYTHON " " WARPMETER_SCHEMA_CHECK " " WARPMETER_MACHINE_SCHEMA;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const fs::path file = folder / (std::to_string(i) + ".machine.json");
    write_json(file, documents[i]);
    command += " " + file.string();
  }
  EXPECT_EQ(std::system((command + " > " + answer.string()).c_str()), 0);
  std::vector<std::string> verdicts;
  std::ifstream in(answer);
  for (std::string line; std::getline(in, line);) verdicts.push_back(line);
  fs::remove_all(folder);
  return verdicts;
}

TEST(Machine, SchemaAndReaderAgree) {
  if (std::system(WARPMETER_PYTHON " -c 'import jsonschema' 2>/dev/null") != 0) {
    GTEST_SKIP() << "no jsonschema in " WARPMETER_PYTHON ": run scripts/setup";
  }
  std::vector<Json> documents{to_json(full_machine())};
  for (const Broken& broken : broken_documents()) {
    documents.push_back(documents[0]);
    broken.damage(documents.back());
  }
  const std::vector<std::string> verdicts = schema_verdicts(documents);
  ASSERT_EQ(verdicts.size(), documents.size());
  EXPECT_EQ(verdicts[0], "valid");
  for (std::size_t i = 0; i < broken_documents().size(); ++i) {
    const Broken& broken = broken_documents()[i];
    EXPECT_EQ(verdicts[i + 1], broken.schema_sees_it ? "invalid" : "valid") << broken.name;
  }
}

}  // namespace
}  // namespace warpmeter
