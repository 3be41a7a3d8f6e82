// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the benchmarks ask of the system: pages, cores, threads, time.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "core/error.h"
#include "microbench/host/chase_set.h"
#include "microbench/host/clock.h"
#include "microbench/host/hierarchy.h"
#include "microbench/host/pages.h"
#include "microbench/host/stream_set.h"
#include "microbench/host/team.h"
#include "microbench/host/topology.h"

namespace warpmeter {
namespace {

constexpr std::size_t mib = 1 << 20;

std::size_t huge_kib_of_process() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::size_t kib = 0;
  for (std::string line; std::getline(rollup, line);)
    if (std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kib) == 1) break;
  return kib;
}

TEST(Pages, OfFourKibAreNeverHuge) {
  const Pages pages(8 * mib, PageKind::base);
  pages.populate(0, 1);
  EXPECT_EQ(pages.bytes_in_huge_pages(), 0U);
  EXPECT_NO_THROW(pages.require_kind());
}

TEST(Pages, ThatAreHugeAreSeenAsSuch) {
  const Pages pages(7 * mib, PageKind::huge);
  EXPECT_EQ(pages.size(), 8 * mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % Pages::huge_bytes, 0U);
  pages.populate(0, 2);
  pages.populate(1, 2);
  if (auto reason = huge_pages_reason(read_host_facts())) GTEST_SKIP() << *reason;
  EXPECT_NO_THROW(pages.require_kind());
  EXPECT_EQ(pages.bytes_in_huge_pages(), 8 * mib);
  EXPECT_GE(huge_kib_of_process(), 8 * 1024U);
}

TEST(Pages, ThatTurnOutWrongAreRefused) {
  const Pages huge(4 * mib, PageKind::huge);  // never touched: not there yet
  EXPECT_EQ(huge.bytes_in_huge_pages(), 0U);
  EXPECT_THROW(huge.require_kind(), UnsupportedError);

  const Pages base(4 * mib, PageKind::base);
  madvise(base.data(), base.size(), MADV_HUGEPAGE);
  base.populate(0, 1);
  if (auto reason = huge_pages_reason(read_host_facts())) GTEST_SKIP() << *reason;
  EXPECT_THROW(base.require_kind(), UnsupportedError);
}

TEST(Pages, PopulateEveryPart) {
  const Pages pages(3 * 4096, PageKind::base);
  for (std::size_t part = 0; part < 2; ++part) pages.populate(part, 2);
  unsigned char resident[3] = {};
  ASSERT_EQ(mincore(pages.data(), pages.size(), resident), 0);
  for (unsigned char page : resident) EXPECT_EQ(page & 1, 1);
}

TEST(ParsePage, KnowsTwo) {
  EXPECT_EQ(parse_page("4k"), PageKind::base);
  EXPECT_EQ(parse_page("huge"), PageKind::huge);
  EXPECT_THROW(parse_page("2m"), InputError);
}

TEST(AllowedCores, AreDistinctAndAllowed) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const std::vector<int>& cores = allowed_cores();
  EXPECT_EQ(std::set<int>(cores.begin(), cores.end()).size(), cores.size());
  for (int cpu : cores) EXPECT_TRUE(CPU_ISSET(cpu, &allowed)) << cpu;
  EXPECT_EQ(cores_near_first().front(), cores.front());
  EXPECT_THROW(first_cores(static_cast<int>(cores.size()) + 1), UnsupportedError);
  EXPECT_THROW(first_cores(0), UnsupportedError);
}

TEST(Team, RunsOnItsCoresAndLeavesTheCallerFree) {
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  Team team(allowed_cores());
  std::vector<int> seen(allowed_cores().size(), -1);
  team.time([&](int rank) { seen[static_cast<std::size_t>(rank)] = current_cpu(); });
  EXPECT_EQ(seen, allowed_cores());
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Team, TimesTheSlowest) {
  Team team(allowed_cores());
  const int slow = team.size() - 1;
  const double elapsed_s = team.time([&](int rank) {
    if (rank == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  EXPECT_GE(elapsed_s, 0.020);
}

TEST(Team, PassesOnExceptionsAndGoesOn) {
  Team team(first_cores(1));
  EXPECT_THROW(team.run([](int) { throw std::runtime_error("x"); }), std::runtime_error);
  int runs = 0;
  team.run([&](int) { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(Team, RefusesAThreadThatLeftItsCore) {
  if (allowed_cores().size() < 2) GTEST_SKIP() << "one core only";
  Team team(first_cores(1));
  EXPECT_THROW(team.time([](int) { bind_thread(allowed_cores()[1]); }), std::runtime_error);
}

TEST(Team, OnACoreThatDoesNotExistIsRefused) { EXPECT_THROW(Team({100000}), UnsupportedError); }

TEST(Calibrate, IsNotFooledByAnInterruption) {
  int runs = 0;
  const std::size_t found = calibrate(
      [&](std::size_t n) { return 1e-6 * static_cast<double>(n) + (runs++ % 5 == 0 ? 0.1 : 0.0); });
  EXPECT_GE(static_cast<double>(found) * 1e-6, shortest_sample_s());
}

TEST(Calibrate, FindsTheShortestLongEnough) {
  const std::size_t found = calibrate([](std::size_t n) { return 1e-6 * static_cast<double>(n); });
  EXPECT_GE(static_cast<double>(found) * 1e-6, shortest_sample_s());
  EXPECT_LE(static_cast<double>(found) * 1e-6, 3 * shortest_sample_s());
  EXPECT_EQ(calibrate([](std::size_t) { return 1.0; }), 1U);
}

TEST(ClockFacts, ArePlausible) {
  EXPECT_GT(clock_facts().overhead_s, 0);
  EXPECT_LT(clock_facts().overhead_s, 1e-4);
  EXPECT_GT(core_clock_hz(), 1e8);
  EXPECT_LT(core_clock_hz(), 1e10);
}

TEST(ChaseSet, HoldsAllLinesAndChecksItself) {
  Team team(first_cores(1));
  // One line, a part of a page, and a set that is built by several cores.
  for (double footprint : {64.0, 24.0 * 1024, 20.0 * mib}) {
    const ChaseSet set(footprint, 64, PageKind::base, 1, team);
    EXPECT_EQ(set.lines(), static_cast<std::size_t>(footprint / 64));
    std::size_t hops = 0;
    for (const CycleMark& mark : set.marks()) hops += mark.hops;
    EXPECT_EQ(hops, set.lines());
    EXPECT_EQ(set.checked_heads(1).size(), 1U);
    if (set.marks().size() >= 32)
      EXPECT_EQ(set.checked_heads(32).size(), 32U);
    else
      EXPECT_THROW(set.checked_heads(32), std::invalid_argument);
  }
}

TEST(ChaseSet, SeesABrokenChain) {
  Team team(first_cores(1));
  const ChaseSet set(24.0 * 1024, 64, PageKind::base, 1, team);
  const auto link = [](const void* line) { return *static_cast<const void* const*>(line); };
  const void* first = set.marks().front().first;
  EXPECT_NO_THROW(set.checked_heads(1));
  *static_cast<const void**>(const_cast<void*>(first)) = link(link(first));  // skips a line
  EXPECT_THROW(set.checked_heads(1), std::runtime_error);
}

TEST(StreamSet, VerifiesEveryKind) {
  for (StreamKind kind :
       {StreamKind::read, StreamKind::write, StreamKind::copy, StreamKind::triad}) {
    for (StoreKind stores : {StoreKind::regular, StoreKind::non_temporal}) {
      StreamSet set(kind, stores, 5);
      try {
        set.prepare(3);
      } catch (const UnsupportedError& error) {
        GTEST_SKIP() << error.what();
      }
      for (std::size_t units : {1, 5, 7, 12}) EXPECT_NO_THROW(set.run(units));
      EXPECT_EQ(set.units(), 5U);
    }
  }
  EXPECT_EQ(array_count(StreamKind::read), 1U);
  EXPECT_EQ(array_count(StreamKind::copy), 2U);
  EXPECT_EQ(array_count(StreamKind::triad), 3U);
}

}  // namespace
}  // namespace warpmeter
