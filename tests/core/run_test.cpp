// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/run.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace warpmeter {
namespace {

Run example() {
  Measurement measured;
  measured.quantity = "bandwidth.read";
  measured.parameters = {{"footprint", 32768.0}, {"page", std::string("huge")}, {"threads", 1.0}};
  measured.id = measurement_id(measured.quantity, measured.parameters);
  measured.value = 123.456789012345678e9;
  measured.unit = Unit::byte_per_second;
  measured.interval = Interval{120e9, 125e9};
  measured.samples = {{120e9, 125e9}, {123.456789012345678e9}};
  measured.conditions = Json{{"clock_hz", 3.1e9}};
  measured.method = "a method";
  measured.evidence = Json::array({"latency.chase/footprint=4096"});
  measured.work = Work{{{"f32", 1e9}}, 1e6, 2e6, 3e6, 1, 5e5};
  Measurement missing;
  missing.quantity = missing.id = "launch.graph";
  missing.unit = Unit::second;
  missing.verdict = Verdict::unsupported;
  missing.reason = "no GPU";
  Run run;
  run.source = Source::measured;
  run.tool = Json{{"name", "warpmeter"}};
  run.host = Json{{"kernel", "k"}};
  run.device = "cpu";
  run.facts = {{"cpu.cores", {2, Unit::one, "hwloc"}}};
  run.complete = false;
  run.measurements = {measured, missing};
  return run;
}

std::string error_of(const Json& document) {
  try {
    run_from_json(document, "file.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasurementId, WritesWholeNumbersOut) {
  EXPECT_EQ(example().measurements[0].id, "bandwidth.read/footprint=32768,page=huge,threads=1");
  EXPECT_EQ(measurement_id("q", {{"load", 0.25}}), "q/load=0.25");
  EXPECT_EQ(measurement_id("q", {{"size", 1073741824.0}}), "q/size=1073741824");
  EXPECT_EQ(measurement_id("q", {}), "q");
}

TEST(RunDocument, ReadsBackEqual) {
  const Json document = to_json(example());
  const warpmeter::Run back = run_from_json(document, "file.json");
  EXPECT_EQ(to_json(back), document);
  const Measurement& first = back.measurements[0];
  EXPECT_EQ(*first.value, 123.456789012345678e9);  // to the bit
  EXPECT_EQ(first.interval, (Interval{120e9, 125e9}));
  EXPECT_EQ(first.samples, example().measurements[0].samples);
  EXPECT_EQ(first.parameters, example().measurements[0].parameters);
  EXPECT_EQ(first.work, example().measurements[0].work);
  EXPECT_FALSE(back.measurements[1].value.has_value());
  EXPECT_EQ(back.measurements[1].verdict, Verdict::unsupported);
  EXPECT_FALSE(back.complete);
}

TEST(RunDocument, SurvivesTextForm) {
  const Json document = to_json(example());
  EXPECT_EQ(Json::parse(document.dump(1)), document);
}

TEST(RunDocument, RefusesOtherDocuments) {
  Json document = to_json(example());
  document["schema"] = "warpmeter.run/2";
  EXPECT_NE(error_of(document).find("is not the warpmeter.run/1 that this version reads"),
            std::string::npos);
  document["schema"] = "warpmeter.machine/1";
  EXPECT_NE(error_of(document).find("a warpmeter.run/1 is needed"), std::string::npos);
  document.erase("schema");
  EXPECT_NE(error_of(document).find("\"schema\" is missing"), std::string::npos);
  EXPECT_NE(error_of(Json::array()).find("an object was expected"), std::string::npos);
}

TEST(RunDocument, RefusesBrokenMeasurements) {
  const auto broken = [](auto change) {
    Json document = to_json(example());
    change(document["measurements"][0]);
    return error_of(document);
  };
  EXPECT_NE(broken([](Json& m) { m["unit"] = "GB/s"; }).find("unknown unit"), std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["verdict"] = "fine"; }).find("unknown verdict"),
            std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["value"] = "12"; }).find("must be a number"), std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["value"] = nullptr; }).find("does not say why"),
            std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["interval"] = {2, 1}; }).find("[low, high]"), std::string::npos);
  EXPECT_NE(broken([](Json& m) {
              m["samples"] = {{1, "x"}};
            }).find("not a number"),
            std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["work"]["bytes_read"] = -1; }).find("negative"),
            std::string::npos);
  EXPECT_NE(broken([](Json& m) { m["id"] = "launch.graph"; }).find("occurs twice"),
            std::string::npos);
  EXPECT_NE(broken([](Json& m) { m.erase("method"); }).find("\"method\" is missing"),
            std::string::npos);
}

TEST(RunDocument, FindsByIdAndQuantity) {
  const warpmeter::Run run = example();
  EXPECT_EQ(find(run, "launch.graph"), &run.measurements[1]);
  EXPECT_EQ(find(run, "launch"), nullptr);
  EXPECT_EQ(with_quantity(run, "bandwidth.read").size(), 1u);
}

TEST(Verdict, OnlyGoodOnesAreUsable) {
  EXPECT_TRUE(usable(Verdict::ok));
  EXPECT_TRUE(usable(Verdict::multimodal));
  for (const Verdict bad :
       {Verdict::ramping, Verdict::throttled, Verdict::contaminated, Verdict::above_limit,
        Verdict::unstable, Verdict::unsupported, Verdict::failed}) {
    EXPECT_FALSE(usable(bad)) << to_string(bad);
  }
}

}  // namespace
}  // namespace warpmeter
