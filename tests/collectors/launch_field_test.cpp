// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Names of kernels in traces of real programs.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "collectors/launch.h"

namespace warpmeter {
namespace {

const std::string folder = WARPMETER_SHARED_DATA "/field/kineto/";

std::set<std::string> kernels_of(const std::string& file) {
  const std::string command = "gzip -dc '" + folder + file + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 1 << 16> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), size);
  std::set<std::string> out;
  const std::string key = "\"name\":";
  for (const char* kind : {"\"kernel\",", "\"Kernel\","})
    for (std::size_t at = text.find(kind); at != std::string::npos; at = text.find(kind, at + 1)) {
      const std::size_t name = text.find(key, at);
      if (name == std::string::npos || name > at + 40) continue;
      const std::size_t begin = text.find('"', name + key.size()) + 1;
      out.insert(text.substr(begin, text.find('"', begin) - begin));
    }
  return out;
}

TEST(LaunchField, RefusesCommunicationAndNothingElse) {
  std::size_t refused = 0, admitted = 0;
  for (const char* file :
       {"a100_nccl_meta.json.gz", "a100_16rank_graphs.json.gz", "h100_bert_small.json.gz",
        "a100_alexnet_sync.json.gz", "triton_small.json.gz", "rank0_of_128.json.gz"}) {
    for (const std::string& kernel : kernels_of(file)) {
      const bool waits = kernel.find("nccl") != std::string::npos;
      EXPECT_EQ(why_refused(std::string_view(kernel)).has_value(), waits) << file << ' ' << kernel;
      ++(waits ? refused : admitted);
    }
  }
  EXPECT_GE(refused, 3u);
  EXPECT_GE(admitted, 50u);
}

}  // namespace
}  // namespace warpmeter
