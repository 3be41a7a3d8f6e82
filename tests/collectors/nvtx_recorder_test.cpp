// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvtx_recorder.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "collectors/nvtx_collector.h"
#include "collectors/nvtx_text.h"
#include "tests/collectors/kept_rows.h"

namespace warpmeter {
namespace {

NvtxEvent event(std::string_view message, std::uint32_t domain = 0) {
  NvtxEvent event;
  event.message = message;
  event.domain = domain;
  return event;
}

class Nvtx : public testing::Test {
 protected:
  void TearDown() override {
    recorder.on_range("", nullptr);
    collector.disarm();
    KeptRows rest;
    collector.drain(rest);
  }

  std::optional<std::string> name_of(std::uint64_t token) {
    const auto row = collector.row_of(token, sink);
    return row ? std::optional(sink.ranges.at(*row - 1).name) : std::nullopt;
  }

  NvtxRecorder& recorder = NvtxRecorder::instance();
  NvtxCollector collector{Target{}};
  KeptRows sink;
};

TEST_F(Nvtx, WritesAnOpenRangeAndEndsItLater) {
  collector.arm();
  recorder.push(event("open"));
  EXPECT_EQ(collector.drain(sink), 1u);
  ASSERT_EQ(sink.ranges.size(), 1u);
  EXPECT_FALSE(sink.ranges[0].end_ns);
  recorder.pop(0);
  EXPECT_EQ(collector.drain(sink), 0u);
  EXPECT_TRUE(sink.ranges[0].end_ns);
  recorder.push(event("short"));
  recorder.pop(0);
  collector.drain(sink);
  EXPECT_TRUE(sink.ranges[1].end_ns);
  EXPECT_EQ(sink.ends_later, 1u);
  EXPECT_TRUE(sink.losses.empty());
}

TEST_F(Nvtx, KnowsTheRowOfATokenWhileTheRangeIsOpenAndAfterwards) {
  collector.arm();
  EXPECT_EQ(nvtx_current_range(), 0u);
  EXPECT_FALSE(collector.row_of(0, sink));
  recorder.push(event("outer"));
  const std::uint64_t outer = nvtx_current_range();
  recorder.push(event("other domain", 5));
  const std::uint64_t inner = nvtx_current_range();
  EXPECT_NE(outer, inner);
  EXPECT_EQ(name_of(inner), "other domain");  // drains by itself
  recorder.pop(0);                            // not the innermost
  EXPECT_EQ(nvtx_current_range(), inner);
  recorder.pop(5);
  EXPECT_EQ(nvtx_current_range(), 0u);
  for (int i = 0; i < 5; ++i) collector.drain(sink);
  EXPECT_EQ(name_of(outer), "outer");
  EXPECT_EQ(name_of(inner), "other domain");
  std::thread([] { EXPECT_EQ(nvtx_current_range(), 0u); }).join();
}

TEST_F(Nvtx, SaysWhichTokensHaveNoRow) {
  recorder.push(event("before it was armed"));
  const std::uint64_t token = nvtx_current_range();
  recorder.pop(0);
  collector.arm();
  EXPECT_FALSE(name_of(token));
  EXPECT_FALSE(name_of(token));
  sink.full = true;
  recorder.push(event("lost by the sink"));
  EXPECT_FALSE(name_of(nvtx_current_range()));
  recorder.pop(0);
  sink.full = false;
  collector.drain(sink);
  EXPECT_EQ(sink.lost()["range_id"], 3);
  EXPECT_EQ(sink.ends_later, 0u);
}

TEST_F(Nvtx, CountsADomainsLevelsAlone) {
  EXPECT_EQ(recorder.push(event("a")), 0);
  EXPECT_EQ(recorder.push(event("b", 1)), 0);
  EXPECT_EQ(recorder.push(event("c")), 1);
  EXPECT_EQ(recorder.pop(0), 1);
  EXPECT_EQ(recorder.pop(1), 0);
  EXPECT_EQ(recorder.pop(1), -1);
  EXPECT_EQ(recorder.pop(0), 0);
}

// What does not fit is tried again as long as it is open: with room, it is not lost.
TEST_F(Nvtx, LosesOnlyWhatHadNoRoomUntilItsEnd) {
  NvtxCollector small(Target{}, 8192);
  small.arm();
  const std::string message(1000, 'm');
  recorder.push(event("outer"));
  for (int i = 0; i < 20; ++i) recorder.push(event(message));
  small.drain(sink);
  small.drain(sink);
  for (int i = 0; i < 20; ++i) recorder.pop(0);
  recorder.push(event("late"));
  recorder.pop(0);
  recorder.pop(0);
  for (int i = 0; i < 3; ++i) small.drain(sink);
  EXPECT_EQ(static_cast<std::int64_t>(sink.ranges.size()) + sink.lost()["ranges"], 22);
  EXPECT_GT(sink.lost()["ranges"], 0);
  for (const KeptRows::Range& range : sink.ranges) EXPECT_TRUE(range.end_ns) << range.name;
}

// Buffers shrink when a burst is over, and grow again for the next.
TEST_F(Nvtx, TakesOneBurstAfterAnother) {
  collector.arm();
  std::size_t bursts = 0;
  for (; bursts < 6; ++bursts) {
    for (int i = 0; i < 20000; ++i) {
      recorder.push(event("burst"));
      recorder.pop(0);
    }
    for (int i = 0; i < 4; ++i) collector.drain(sink);
  }
  std::thread([&] { recorder.push(event("needs a buffer")); }).join();
  collector.drain(sink);
  EXPECT_EQ(sink.ranges.size(), bursts * 20000 + 1);
  EXPECT_TRUE(sink.losses.empty());
}

TEST_F(Nvtx, CountsWhatIsTooDeep) {
  collector.arm();
  for (int i = 0; i < 1030; ++i) recorder.push(event("deep"));
  EXPECT_NE(nvtx_current_range(), 0u);
  for (int i = 0; i < 1030; ++i) recorder.pop(0);
  EXPECT_EQ(recorder.pop(0), -1);
  collector.drain(sink);
  EXPECT_EQ(sink.ranges.size(), 1024u);
  EXPECT_EQ(sink.lost(), (std::map<std::string, std::int64_t>{{"ranges", 6}, {"pops", 1}}));
}

TEST_F(Nvtx, GivesAnIdThatAnyThreadMayEndOnce) {
  collector.arm();
  const std::uint64_t id = recorder.start(event("started"));
  EXPECT_EQ(nvtx_current_range(), 0u);
  collector.drain(sink);
  std::thread([&] { recorder.end(id); }).join();
  recorder.end(id);
  recorder.end(id + 1);
  recorder.end(0);  // what NVTX returns where no range was made
  collector.drain(sink);
  ASSERT_EQ(sink.ranges.size(), 1u);
  EXPECT_TRUE(sink.ranges[0].end_ns);
  EXPECT_EQ(sink.lost(), (std::map<std::string, std::int64_t>{{"ends", 2}}));
}

TEST_F(Nvtx, CallsTheHookOnceAndBeforeTheRange) {
  int calls = 0;
  recorder.on_range("step", [&] {
    ++calls;
    collector.arm();
  });
  recorder.push(event("ste"));
  recorder.pop(0);
  recorder.mark(event("steps"));
  EXPECT_EQ(calls, 0);
  NvtxEvent registered;
  registered.registered = recorder.names.register_string("step");
  recorder.mark(registered);
  recorder.mark(event("step"));
  EXPECT_EQ(calls, 1);
  collector.drain(sink);
  EXPECT_EQ(sink.ranges.size(), 2u);
}

// Threads come and go, are armed and disarmed, and each of their tokens leads to their own range.
TEST_F(Nvtx, KeepsThreadsApartWhileItIsArmedAndDrained) {
  constexpr int threads = 4, rounds = 2000;
  collector.arm();
  std::vector<std::vector<std::pair<std::uint64_t, std::string>>> tokens(threads);
  std::atomic<int> running = threads;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const std::string name = std::to_string(t) + ":" + std::to_string(i);
        recorder.push(event("outer"));
        recorder.push(event(name, 1));
        if (i % 7 == 0) tokens[t].emplace_back(nvtx_current_range(), name);
        const std::uint64_t id = recorder.start(event("started", 1));
        recorder.mark(event("mark"));
        recorder.pop(1);
        recorder.end(id);
        recorder.pop(0);
      }
      --running;
    });
  while (running != 0) {
    collector.drain(sink);
    collector.arm();
  }
  for (std::thread& worker : workers) worker.join();
  collector.drain(sink);
  EXPECT_EQ(sink.ranges.size(), std::size_t{threads} * rounds * 4);
  EXPECT_TRUE(sink.losses.empty());
  std::set<std::uint64_t> distinct;
  for (const auto& own : tokens)
    for (const auto& [token, name] : own) {
      EXPECT_EQ(name_of(token), name);
      distinct.insert(token);
    }
  EXPECT_EQ(distinct.size(), std::size_t{threads} * ((rounds + 6) / 7));
  for (const KeptRows::Range& range : sink.ranges) {
    EXPECT_EQ(range.end_ns.has_value(), range.kind != "mark");
    ASSERT_EQ(range.parent_id.has_value(), range.kind != "push_pop") << range.name;
    const KeptRows::Range& parent = range.parent_id ? sink.ranges.at(*range.parent_id - 1) : range;
    EXPECT_EQ(parent.thread, range.thread);
  }
}

// Also where the thread does nothing more.
TEST_F(Nvtx, FindsWhatIsOpenWhenItIsArmed) {
  recorder.push(event("pushed"));
  const std::uint64_t id = recorder.start(event("started"));
  collector.arm();
  EXPECT_EQ(collector.drain(sink), 2u);
  EXPECT_FALSE(sink.ranges.at(0).end_ns);
  EXPECT_EQ(sink.ranges.at(1).parent_id, 1);
  recorder.end(id);
  recorder.pop(0);
  collector.drain(sink);
  EXPECT_EQ(sink.ends_later, 2u);
}

// A range that is open over a disarmed time keeps its row and its end.
TEST_F(Nvtx, EndsWhileDisarmedWhatBeganArmed) {
  collector.arm();
  recorder.push(event("long"));
  collector.disarm();
  recorder.push(event("unseen"));
  recorder.pop(0);
  collector.drain(sink);
  collector.arm();
  collector.disarm();
  recorder.pop(0);
  collector.drain(sink);
  ASSERT_EQ(sink.ranges.size(), 1u);
  EXPECT_TRUE(sink.ranges[0].end_ns);
}

TEST(NvtxText, ReplacesWhatIsNoUtf8) {
  const auto clean = [](std::string_view text) { return nvtx_utf8(text); };
  EXPECT_EQ(clean("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(clean("\xff"), bad);
  EXPECT_EQ(clean("\xc3"), bad);                                // cut short
  EXPECT_EQ(clean("\xc0\xaf"), bad + bad);                      // longer than needed
  EXPECT_EQ(clean("\xe0\x80\xaf"), bad + bad + bad);            // the same
  EXPECT_EQ(clean("\xed\xa0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(clean("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // beyond the last character
  EXPECT_EQ(nvtx_utf8(std::u32string{U'a', 0xD800, 0x110000, 0x10FFFF}),
            "a" + bad + bad + "\xf4\x8f\xbf\xbf");
}

TEST(NvtxText, CutsBetweenCharacters) {
  const std::string_view text = "a\xe2\x82\xac";
  EXPECT_EQ(nvtx_cut(text, 4), text);
  EXPECT_EQ(nvtx_cut(text, 3), "a");
  EXPECT_EQ(nvtx_cut(text, 2), "a");
  EXPECT_EQ(nvtx_cut(text, 1), "a");
  EXPECT_EQ(nvtx_cut("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);  // no text at all
}

}  // namespace
}  // namespace warpmeter
