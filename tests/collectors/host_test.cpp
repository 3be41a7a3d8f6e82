// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <algorithm>

#include "core/error.h"
#include "plan_support.h"

namespace warpmeter {
namespace {

class Host : public WithCupti {};

// Which chips CUPTI 13.0 Update 1 has, from NVIDIA's release (research/cupti_metrics.md, section
// 1).
TEST_F(Host, KnowsThirtyChips) {
  needs_known_version();
  if (IsSkipped()) return;
  EXPECT_EQ(cupti_->chips(), known_chips);
  EXPECT_EQ(cupti_->chip("GB100", Profiler::range).max_metrics_per_pass(), 92U);
  EXPECT_EQ(cupti_->chip("GB100", Profiler::pm).max_metrics_per_pass(), 260U);
}

TEST_F(Host, RefusesAnUnknownChipWithTheNamesOfAll) {
  try {
    (void)cupti_->chip("GB1000", Profiler::range);
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("unknown chip \"GB1000\""), std::string::npos) << text;
    for (const std::string& chip : cupti_->chips())
      EXPECT_NE(text.find(" " + chip), std::string::npos) << chip;
  }
}

TEST_F(Host, ListsWithAndWithoutRollUp) {
  const ChipHost chip = cupti_->chip("GB100", Profiler::pm);
  EXPECT_TRUE(chip.lists("lts__t_sectors"));
  EXPECT_TRUE(chip.lists("lts__t_sectors.sum.pct_of_peak_sustained_elapsed"));
  EXPECT_TRUE(chip.lists("PCI.TriageCompute.pcie__read_bytes.sum"));
  EXPECT_FALSE(chip.lists("lts__t_sector"));
  EXPECT_FALSE(chip.lists("PCI.TriageCompute.pcie__read_byte.sum"));
}

TEST_F(Host, SaysWhatFailedAndWhy) {
  needs_known_version();
  if (IsSkipped()) return;
  const auto error = [&](const char* chip, std::vector<std::string> names) {
    return cupti_->chip(chip, Profiler::range).configure(names).error;
  };
  EXPECT_EQ(error("GH100", {"lts__t_sectors.sum"}), 0);
  EXPECT_EQ(error("GH100", {"lts__t_sectors"}), 1);  // no roll-up
  EXPECT_EQ(error("GH100", {"lts__no_such_thing.sum"}), 1);
  EXPECT_EQ(error("GH100", {"lts__t_sectors.sum", "nvlrx__bytes.sum"}), 27);  // scopes
  EXPECT_EQ(error("GB202", {"lts__t_requests_srcnode_gpc_realtime.sum"}), 999);
  EXPECT_TRUE(cupti_->chip("GB202", Profiler::range)
                  .lists("lts__t_requests_srcnode_gpc_realtime"));  // listed all the same
  EXPECT_EQ(error("GV11B", {"lts__t_sectors.sum"}), 27);
  EXPECT_STREQ(cupti_->chip("GV11B", Profiler::range).configure({"x__y.sum"}).call, "Initialize");
}

TEST_F(Host, ImagesAreReproducibleAndNameTheirChip) {
  const ChipHost chip = cupti_->chip("GH100", Profiler::range);
  const std::vector<std::string> names = {"lts__t_sectors.sum", "dram__bytes_read.sum"};
  const CounterConfig first = chip.configure(names), second = chip.configure(names);
  ASSERT_EQ(first.error, 0);
  EXPECT_EQ(first.passes, 1U);
  EXPECT_GT(first.image.size(), 500U);
  EXPECT_EQ(first.image, second.image);
  const std::string text(first.image.begin(), first.image.end());
  EXPECT_NE(text.substr(0, 64).find("GH100"), std::string::npos);
  EXPECT_NE(hash_image(first.image), hash_image(chip.configure({"lts__t_sectors.sum"}).image));
}

TEST(HashImage, IsFnv1a) {  // test vectors of the IETF draft on FNV
  const auto hash = [](const std::string& text) {
    return hash_image(std::vector<std::uint8_t>(text.begin(), text.end()));
  };
  EXPECT_EQ(hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace warpmeter
