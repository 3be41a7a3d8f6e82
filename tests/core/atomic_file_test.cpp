// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/json.h"

namespace warpmeter {
namespace {

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "warpmeter.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string text(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

using WriteAtomically = FolderTest;
using ReadJson = FolderTest;

TEST_F(WriteAtomically, ReplacesTheWholeFile) {
  write_atomically(folder_ / "a", "a long first text");
  write_atomically(folder_ / "a", "short");
  EXPECT_EQ(text(folder_ / "a"), "short");
  EXPECT_EQ(files(), 1u);
}

[[noreturn]] void write_beyond_limit(const std::filesystem::path& file) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{100, 100};
  setrlimit(RLIMIT_FSIZE, &limit);
  try {
    write_atomically(file, std::string(100000, 'x'));
  } catch (const InputError&) {
    std::_Exit(7);
  }
  std::_Exit(0);
}

// A file size limit makes write(2) fail half-way, as a full disk does.
TEST_F(WriteAtomically, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  write_atomically(folder_ / "a", "old");
  EXPECT_EXIT(write_beyond_limit(folder_ / "a"), testing::ExitedWithCode(7), "");
  EXPECT_EQ(text(folder_ / "a"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteAtomically, NamesTheFileAndTheRemedy) {
  try {
    write_atomically(folder_ / "missing" / "a", "text");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("make the folder first"), std::string::npos);
  }
  EXPECT_THROW(write_atomically(folder_, "text"), InputError);
}

TEST_F(ReadJson, SaysWhatIsWrongWithAFile) {
  const auto message = [&](const std::string& content) {
    write_atomically(folder_ / "x.json", content);
    try {
      read_json(folder_ / "x.json", 1000);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message("").find("the file is empty"), std::string::npos);
  EXPECT_NE(message(" \n").find("the file is empty"), std::string::npos);
  EXPECT_NE(message("{\"a\": [1, 2").find("cut off"), std::string::npos);
  EXPECT_NE(message("{\"a\": nonsense}").find("not valid JSON at byte 8"), std::string::npos);
  EXPECT_NE(message(std::string(2000, ' ') + "{}").find("more than the limit"), std::string::npos);
  EXPECT_EQ(message("{\"a\": 1}"), "no error");
  EXPECT_THROW(read_json(folder_ / "none.json"), InputError);
  EXPECT_THROW(read_json(folder_), InputError);
}

TEST_F(ReadJson, KeepsTheOrderOfKeys) {
  write_json(folder_ / "x.json", Json{{"z", 1}, {"a", 2}});
  EXPECT_EQ(text(folder_ / "x.json"), "{\n \"z\": 1,\n \"a\": 2\n}\n");
  EXPECT_EQ(read_json(folder_ / "x.json").dump(), R"({"z":1,"a":2})");
}

TEST_F(ReadJson, RefusesToWriteNumbersThatAreNone) {
  EXPECT_THROW(write_json(folder_ / "x.json", Json{{"a", std::nan("")}}), std::logic_error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace warpmeter
