// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Readers of documents against damaged input: every mutation is read, or refused with an
// InputError, and nothing else.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/error.h"
#include "core/run.h"

namespace warpmeter {
namespace {

Json seed_document() {
  Measurement m;
  m.quantity = "bandwidth.read";
  m.parameters = {{"footprint", 32768.0}, {"page", std::string("huge")}};
  m.id = measurement_id(m.quantity, m.parameters);
  m.value = 1e11;
  m.unit = Unit::byte_per_second;
  m.interval = Interval{9e10, 1.1e11};
  m.samples = {{9e10, 1.1e11}, {1e11}};
  m.work = Work{{{"f32", 1.0}}, 2, 3, 4, 1};
  Run run;
  run.tool = Json{{"version", "0"}};
  run.host = Json::object();
  run.device = "cpu";
  run.facts = {{"cpu.cores", {2, Unit::one, "hwloc"}}};
  run.measurements = {m};
  return to_json(run);
}

// A random node of the tree, depth first.
Json* pick(Json& root, std::mt19937& random) {
  Json* at = &root;
  while (at->is_structured() && !at->empty() && random() % 4 != 0) {
    const auto index = random() % at->size();
    auto next = at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(index));
    at = &*next;
  }
  return at;
}

const Json& odd_value(std::mt19937& random) {
  static const std::vector<Json> values = {Json(),
                                           true,
                                           -1,
                                           0,
                                           1e308,
                                           -1e308,
                                           18446744073709551615u,
                                           "",
                                           "x",
                                           std::string(300, 'a'),
                                           Json::array(),
                                           Json::object(),
                                           Json{{"a", 1}},
                                           Json{1, 2},
                                           Json{2, 1},
                                           Json{{"value", nullptr}}};
  return values[random() % values.size()];
}

TEST(FuzzRunReader, SurvivesStructuralDamage) {
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Json document = seed_document();
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      Json* node = pick(document, random);
      if (node->is_object() && !node->empty() && random() % 2 == 0) {
        node->erase(node->begin());
      } else {
        *node = odd_value(random);
      }
    }
    try {
      const Json again = to_json(run_from_json(document, "fuzz"));
      run_from_json(again, "fuzz");  // what was accepted can be written and read again
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
  EXPECT_LT(refused, 20000);
}

TEST(FuzzRunReader, SurvivesDamagedBytes) {
  const std::string text = seed_document().dump();
  std::mt19937 random(8);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = text;
    for (auto edits = 1 + random() % 4; edits > 0; --edits)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (random() % 3 == 0) damaged.resize(random() % damaged.size());
    const Json document = Json::parse(damaged, nullptr, false);
    if (document.is_discarded()) continue;
    try {
      run_from_json(document, "fuzz");
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace warpmeter
