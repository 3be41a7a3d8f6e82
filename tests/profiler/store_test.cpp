// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "core/error.h"
#include "profiler/profile_reader.h"
#include "profiler/schema.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

// A process, a device and a shape, so that kernels can be added.
struct Minimal {
  explicit Minimal(ProfileWriter& w) : writer(w) {
    row.process_id = w.add(ProcessRow{1, {}, "x", {}, {}, 0, 0});
    row.device_id = w.add(DeviceRow{0, "GPU-1", "x", {}, "{}"});
    Shape shape;
    shape.name_id = w.string("k");
    row.shape_id = w.shape(shape);
  }
  void add(int kernels) {
    for (int i = 0; i < kernels; ++i) {
      row.start_ns = ++time;
      row.end_ns = time + 1;
      writer.add(row);
    }
  }
  ProfileWriter& writer;
  KernelRow row;
  std::int64_t time = 0;
};

TEST(ProfileStore, GivesBackWhatWasWritten) {
  const ScratchFolder folder;
  write_planted_store(folder / "x.profile.sqlite");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.profile.sqlite.partial"));
  const ProfileReader reader(folder / "x.profile.sqlite", Integrity::all_pages);
  EXPECT_EQ(reader.source(), Source::emulated);
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.meta("host"), (Json{{"hostname", "planted"}}));
  std::vector<std::string> kernels;
  reader.scan("v_kernels",
              {"start_ns", "duration_ns", "name", "grid_y", "cluster_x", "shared_dynamic",
               "registers", "correlation", "graph_node", "range", "device_uuid", "pid"},
              [&](const ProfileRow& r) {
                kernels.push_back(fmt::format(
                    "{} {} {} {} {} {} {} {} {} {} {} {}", r.optional_integer(0).value_or(-1),
                    r.optional_integer(1).value_or(-1), r.text(2), r.integer(3), r.integer(4),
                    r.integer(5), r.integer(6), r.integer(7), r.optional_integer(8).value_or(-1),
                    r.optional_text(9).value_or("-"), r.text(10), r.integer(11)));
              });
  EXPECT_EQ(kernels, (std::vector<std::string>{
                         "-1 -1 gemm<\"bf16\"> 2 2 4096 96 6 -1 - GPU-1 4242",
                         "1234567 5432 gemm<\"bf16\"> 2 2 4096 96 4294967301 12 step, \"decode\" "
                         "GPU-1 4242"}));
  reader.scan("images", {"hash", "length", "data"}, [](const ProfileRow& r) {
    EXPECT_EQ(r.integer(1), 3);
    const auto data = std::get<sqlite::Blob>(r.cell(2));
    EXPECT_EQ(std::vector<std::byte>(data.begin(), data.end()),
              (std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{255}}));
    EXPECT_EQ(r.text(0), image_hash(data));
  });
}

// Values of the algorithm's publication (draft-eastlake-fnv).
TEST(ProfileStore, HashesImagesByFnv1a) {
  EXPECT_EQ(image_hash({}), "fnv1a64:cbf29ce484222325");
  const std::array<std::byte, 1> a{std::byte{'a'}};
  EXPECT_EQ(image_hash(a), "fnv1a64:af63dc4c8601ec8c");
}

TEST(ProfileStore, StringsAndShapesAreStoredOnceEvenBeyondTheCaches) {
  const ScratchFolder folder;
  ProfileWriter w(folder / "x", {});
  std::vector<std::int64_t> ids;
  const int many = 70000;  // more than the cache of 65536
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < many; ++i) {
      Shape shape;
      shape.name_id = w.string(std::to_string(i));
      shape.grid[0] = i;
      const std::int64_t id = w.shape(shape);
      if (round == 0) ids.push_back(id);
      ASSERT_EQ(id, ids[i]);
    }
  }
  w.finish();
  const ProfileReader reader(folder / "x");
  EXPECT_EQ(reader.count("strings"), many);
  EXPECT_EQ(reader.count("shapes"), many);
}

TEST(ProfileStore, NumbersThatAreNotFiniteBecomeNullWithAReason) {
  const ScratchFolder folder;
  ProfileWriter w(folder / "x", {});
  CounterRow row;
  row.metric_id = w.string("m");
  row.value = std::numeric_limits<double>::infinity();
  w.add(row);
  row.value.reset();
  EXPECT_NE(refusal_of([&] { w.add(row); }).find("reason"), std::string::npos);
  w.finish();
  ProfileReader(folder / "x").scan("v_counters", {"value", "reason"}, [](const ProfileRow& r) {
    EXPECT_FALSE(r.optional_real(0));
    EXPECT_EQ(r.text(1), "the value was not finite");
  });
}

TEST(ProfileStore, RefusesPlacesThatCannotBeWritten) {
  const ScratchFolder folder;
  std::ofstream(folder / "there") << "x";
  std::ofstream(folder / "left.partial") << "x";
  const auto refusal = [](const std::filesystem::path& file) {
    return refusal_of([&] { ProfileWriter w(file, {}); });
  };
  EXPECT_NE(refusal(folder / "there").find("it is there"), std::string::npos);
  EXPECT_NE(refusal(folder / "left").find("left.partial is there"), std::string::npos);
  EXPECT_NE(refusal(folder / "no/x").find("make the folder"), std::string::npos);
  EXPECT_NE(refusal("/proc/x").find("cannot write /proc/x"), std::string::npos);
}

TEST(ProfileStore, DoesNotReplaceAFileThatAppearedMeanwhile) {
  const ScratchFolder folder;
  ProfileWriter w(folder / "x", {});
  std::ofstream(folder / "x") << "other";
  EXPECT_NE(refusal_of([&] { w.finish(); }).find("it is there"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(folder / "x"), 5u);
}

// Killed in mid-transaction, after so many rows that SQLite had spilled some of them to the file.
TEST(ProfileStore, AKilledWriterLeavesWhatItFlushed) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ProfileWriter w(folder / "x", {});
    Minimal minimal(w);
    minimal.add(1000);
    w.flush();
    minimal.add(400000);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_GT(std::filesystem::file_size(folder / "x.partial"), 1u << 20);  // it had spilled
  const ProfileReader reader(folder / "x.partial", Integrity::all_pages);
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.count("kernels"), 1000);
}

TEST(ProfileStore, AForkedChildLeavesTheFileAlone) {
  const ScratchFolder folder;
  auto w = std::make_unique<ProfileWriter>(folder / "x", ProfileHeader{});
  Minimal minimal(*w);
  minimal.add(500000);  // unflushed, spilled in part
  const pid_t child = ::fork();
  if (child == 0) {
    w.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  minimal.add(5);
  w->finish();
  EXPECT_EQ(ProfileReader(folder / "x", Integrity::all_pages).count("kernels"), 500005);
}

TEST(ProfileStore, IsNotReadWhileItIsWritten) {
  const ScratchFolder folder;
  ProfileWriter w(folder / "x", {});
  Minimal minimal(w);
  w.flush();
  minimal.add(10);
  const pid_t child = ::fork();  // locks are between processes
  if (child == 0) {
    try {
      ProfileReader reader(folder / "x.partial");
    } catch (const InputError& error) {
      ::_exit(std::string(error.what()).find("still being written") == std::string::npos ? 2 : 0);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The disk is full to the last page: what was flushed is there, and the rest is counted, although
// the page that would hold the losses is full too.
TEST(ProfileStore, AFullDiskIsALossThatIsCounted) {
  const ScratchFolder folder;
  const int rows = 20000;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{640 << 10, 640 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    ProfileWriter w(folder / "x", {});
    const std::string long_reason(4045, 'x');
    LossRow loss;
    loss.reason = long_reason;
    w.add(loss);
    Minimal minimal(w);
    for (int i = 0; i < rows; ++i) {
      if (i % 100 == 0) w.string(std::to_string(i));
      minimal.add(1);
      w.flush();
    }
    w.finish();
    ::_exit(w.failure().empty() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const ProfileReader reader(folder / "x", Integrity::all_pages);
  EXPECT_FALSE(reader.complete());
  const std::int64_t kept = reader.count("kernels");
  EXPECT_GT(kept, 1000);
  EXPECT_LT(kept, rows);
  std::vector<std::string> losses;
  reader.scan("v_losses", {"collector", "what", "count"}, [&](const ProfileRow& r) {
    if (r.text(0) == "store") losses.push_back(fmt::format("{} {}", r.text(1), r.integer(2)));
  });
  EXPECT_EQ(losses, (std::vector<std::string>{fmt::format("kernels {}", rows - kept)}));
}

}  // namespace
}  // namespace warpmeter
