// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Random programs of pushes, pops, launches and captures, whose ranges are known from their stacks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "profiler/merge.h"
#include "profiler/profile_reader.h"
#include "profiler/profile_writer.h"

namespace warpmeter {
namespace {

class AttributeRanges : public ::testing::Test {
 protected:
  AttributeRanges()
      : folder_(std::filesystem::temp_directory_path() /
                ("attribute_ranges." + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~AttributeRanges() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

// One process: what it wrote, and the range that each kernel must get, by correlation.
struct Program {
  Program(ProfileWriter& out, int pid, unsigned seed) : store(out), random(seed) {
    ProcessRow row;
    row.pid = pid;
    row.clock_offset_ns = 0;
    process = store.add(row);
    DeviceRow device_row;
    const std::string uuid = "GPU-" + std::to_string(pid);
    device_row.uuid = uuid;
    device = store.add(device_row);
    Shape shape_row;
    shape_row.name_id = store.string("kernel");
    shape = store.shape(shape_row);
  }

  int draw(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

  std::string innermost(int thread) const {
    const auto& stack = stacks.at(thread);
    return stack.empty() ? "" : stack.back().name;
  }

  void push(int thread) {
    stacks[thread].push_back({"r" + std::to_string(made++), now});
    ++now;
  }

  // Ranges of two domains: any of the upper two may be closed first.
  void pop(int thread) {
    auto& stack = stacks[thread];
    if (stack.empty()) return;
    const std::size_t which = stack.size() - 1 - (stack.size() > 1 ? draw(2) : 0);
    RangeRow row;
    row.process_id = process;
    row.thread = thread;
    row.name_id = store.string(stack[which].name);
    row.start_ns = stack[which].start;
    row.end_ns = now++;
    store.add(row);
    stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void call(int thread, std::int64_t correlation) {
    ApiRow row;
    row.process_id = process;
    row.thread = thread;
    row.start_ns = ++now;
    row.end_ns = ++now;
    ++now;
    row.correlation = correlation;
    row.name_id = store.string("cudaLaunchKernel");
    store.add(row);
  }

  void kernel(std::int64_t correlation, std::int64_t node) {
    KernelRow row;
    row.process_id = process;
    row.device_id = device;
    row.correlation = correlation;
    row.shape_id = shape;
    if (node != 0) row.graph = 1;
    if (node != 0) row.graph_node = node;
    store.add(row);
  }

  void launch(int thread) {
    const std::int64_t correlation = ++correlations;
    wanted[{process, correlation, 0}] = {innermost(thread), ""};
    call(thread, correlation);
    kernel(correlation, 0);
  }

  // A node, its clone in the executable graph, and at times a clone of that.
  void capture(int thread) {
    std::int64_t source = 0;
    const std::string range = innermost(thread);
    for (int i = draw(3); i >= 0; --i) {
      GraphNodeRow row;
      row.process_id = process;
      row.node = ++nodes;
      if (source != 0) row.source_node = source;
      row.thread = source == 0 ? thread : 99;  // cloned elsewhere, where no range is open
      row.time_ns = ++now;
      ++now;
      store.add(row);
      source = row.node;
    }
    captured[source] = range;
  }

  void replay(int thread) {
    const std::int64_t correlation = ++correlations;
    call(thread, correlation);
    for (const auto& [node, range] : captured) {
      wanted[{process, correlation, node}] = {innermost(thread), range};
      kernel(correlation, node);
    }
  }

  void run() {
    stacks = {{1, {}}, {2, {}}, {3, {}}};
    for (int step = 0; step < 400; ++step) {
      const int thread = 1 + draw(3);
      switch (draw(6)) {
        case 0:
        case 1:
          push(thread);
          break;
        case 2:
          pop(thread);
          break;
        case 3:
        case 4:
          launch(thread);
          break;
        default:
          if (captured.size() < 3)
            capture(thread);
          else
            replay(thread);
      }
    }
    // Ranges that are open at the end.
    for (auto& [thread, stack] : stacks) {
      for (const auto& open : stack) {
        RangeRow row;
        row.process_id = process;
        row.thread = thread;
        row.name_id = store.string(open.name);
        row.start_ns = open.start;
        store.add(row);
      }
    }
  }

  struct Open {
    std::string name;
    std::int64_t start;
  };
  using Key = std::array<std::int64_t, 3>;  // process, correlation, node

  ProfileWriter& store;
  std::mt19937 random;
  std::int64_t process = 0, device = 0, shape = 0, now = 100, correlations = 0, nodes = 0;
  int made = 0;
  std::map<int, std::vector<Open>> stacks;
  std::map<std::int64_t, std::string> captured;  // by node
  std::map<Key, std::pair<std::string, std::string>> wanted;
};

std::map<Program::Key, std::pair<std::string, std::string>> found_in(const ProfileReader& profile) {
  std::map<std::int64_t, std::string> names = {{0, ""}};
  profile.scan("v_ranges", {"id", "name"},
               [&](const ProfileRow& row) { names[row.integer(0)] = row.text(1); });
  std::map<Program::Key, std::pair<std::string, std::string>> found;
  profile.scan("kernels",
               {"process_id", "correlation", "graph_node", "range_id", "capture_range_id"},
               [&](const ProfileRow& row) {
                 found[{row.integer(0), row.integer(1), row.optional_integer(2).value_or(0)}] = {
                     names.at(row.optional_integer(3).value_or(0)),
                     names.at(row.optional_integer(4).value_or(0))};
               });
  return found;
}

TEST_F(AttributeRanges, KernelsGetTheInnermostRangeOfTheirLaunchAndCapture) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto shard = folder_ / (std::to_string(seed) + ".profile.sqlite");
    const auto merged = folder_ / (std::to_string(seed) + ".merged.sqlite");
    ProfileWriter store(shard, {});
    // Threads of two processes have the same ids, and their times overlap.
    Program a(store, 10, seed), b(store, 11, seed + 100);
    a.run();
    b.run();
    auto wanted = a.wanted;
    wanted.merge(b.wanted);
    store.finish();
    merge_profiles({shard}, merged, Json::object());
    const auto found = found_in(ProfileReader(merged));
    ASSERT_GT(wanted.size(), 200u);
    EXPECT_EQ(found, wanted) << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpmeter
